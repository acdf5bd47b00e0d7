// When two values count as the same.
#pragma once

#include "core/base/quantity.h"
#include "core/base/status.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
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
inline std::uint64_t ulpDistance(double a, double b)
{
    if (std::isnan(a) || std::isnan(b))
        return std::numeric_limits<std::uint64_t>::max();
    // Integers whose neighbours are neighbouring doubles; both zeros meet at 0.
    const auto ordered = [](double value) {
        const auto bits = std::bit_cast<std::int64_t>(value);
        return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
    };
    const std::int64_t x = ordered(a);
    const std::int64_t y = ordered(b);
    return x > y ? std::uint64_t(x) - std::uint64_t(y) : std::uint64_t(y) - std::uint64_t(x);
}

// `limit` as for the mode; Automatic is not allowed here. Inline: it is called for every value of long runs.
inline bool within(CompareMode mode, double limit, std::uint64_t a, std::uint64_t b, ValueType type)
{
    if (mode == CompareMode::Exact || type != ValueType::F64)
        return a == b;
    const auto x = std::bit_cast<double>(a);
    const auto y = std::bit_cast<double>(b);
    if (!std::isfinite(x) || !std::isfinite(y))
        return x == y; // false for NaN
    switch (mode) {
    case CompareMode::Ulp:
        return double(ulpDistance(x, y)) <= limit;
    case CompareMode::Relative:
        return std::fabs(x - y) <= limit * std::max(std::fabs(x), std::fabs(y));
    default:
        return std::fabs(x - y) <= limit;
    }
}

} // namespace lockstep
