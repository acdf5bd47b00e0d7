// When two values count as the same.
#pragma once

#include "core/base/quantity.h"
#include "core/base/status.h"

#include <cstdint>
#include <string>

namespace lockstep {

enum class CompareMode {
    Automatic, // rank by rank: exact. Single process against several ranks: envelope where there is one, else
               // exact
    Exact,     // the same 64 bits: 0.0 and -0.0 differ, a NaN equals only the same NaN
    Ulp,       // at most `limit` representable float64 values apart
    Absolute,  // |a - b| <= limit
    Relative,  // |a - b| <= limit * max(|a|, |b|)
    Envelope,  // |a - b| <= what the project measured for this quantity and step (envelope.h)
};

// In every mode but Exact a NaN differs from everything, itself included, and an infinity equals only itself.
// Integers and fingerprints have no distance: they compare by their bits in every mode.
struct Tolerance {
    CompareMode mode = CompareMode::Automatic;
    double limit = 0;

    bool operator==(const Tolerance&) const = default;
};

// "exact", "ulp:4", "abs:1e-6", "rel:1e-5", "envelope", "auto". The limit is finite and not negative. Errors:
// Usage.
Result<Tolerance> parseTolerance(const std::string& text);
std::string toleranceName(const Tolerance& tolerance);

// Distance in representable doubles; 0 for 0.0 and -0.0; the largest number for NaN.
std::uint64_t ulpDistance(double a, double b);

// `limit` as for the mode; Automatic is not allowed here.
bool within(CompareMode mode, double limit, std::uint64_t a, std::uint64_t b, ValueType type);

} // namespace lockstep
