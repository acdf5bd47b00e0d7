// By which rule two runs are judged in the window.
#pragma once

#include "core/align/compare.h"
#include "ui/models/project_snapshot.h"

#include <optional>
#include <string>

namespace lockstep {

// Where the project keeps the envelope and what it was measured with (kept_envelope.h); an empty folder: nowhere.
struct EnvelopeSource {
    std::string folder;
    std::string judged; // GateInfo::configJson of the gradients gate
};

struct ComparisonRule {
    enum class Kind {
        Exact,        // the same ranks: every bit counts
        Envelope,     // one process against several ranks, inside what repeats of the single run differ by
        FourDecimals, // the same without an envelope: the samples, and the first batch at 4 decimals
        ByDesign,     // the model is another function on several ranks: only the samples are judged
    };
    Kind kind = Kind::Exact;
    bool batchStatistics = false; // ByDesign: a buffer changes during training (BatchNorm)
    bool randomLayers = false;    // ByDesign: random numbers are drawn in the steps (dropout)
    bool mixedPrecision = false;  // ByDesign without an envelope: sums are rounded coarsely, in another order
    bool otherRanks = false;
    bool countedByRank = false; // other ranks, and what a user's script counts on each of them by itself
    std::optional<Envelope> envelope;

    // `difference` decides whether the runs part; otherwise it is drift that is told and not judged.
    bool counts(const FirstDifference& difference) const;
};

// The published rule for the first batch: equal at 4 decimals; half a unit of the fourth.
inline constexpr double kFourDecimals = 5e-5;

// Reads what decides: the runs' numbers of ranks, whether their buffers change and random numbers are drawn, the envelope.
// Errors: what the readers report.
Result<ComparisonRule> ruleFor(const RunEntry& a, RunReader& readerA, const RunEntry& b,
                               const EnvelopeSource& envelope);

} // namespace lockstep
