// Walks two sources in step and finds the first point that is not within the tolerance.
#pragma once

#include "core/align/compare.h"
#include "core/align/track.h"

#include <optional>

namespace lockstep::align {

struct Judge {
    Tolerance tolerance;
    const EnvelopeBand* band = nullptr; // of mode Envelope
    ValueType type = ValueType::F64;
    bool distances = false;
    bool nanEqualsNan = false; // also outside the exact mode

    // Empty: there is nothing to judge by (beyond the measured steps).
    std::optional<double> limit(std::int64_t step, std::uint64_t a, std::uint64_t b) const;
};

struct Point {
    std::int64_t stepA = 0;
    std::int64_t stepB = 0;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    bool missingA = false;
    bool missingB = false;
    double limit = 0;
};

struct Scan {
    std::int64_t points = 0;   // judged
    std::int64_t unjudged = 0; // beyond the envelope
    std::optional<Point> first;
    Distance distance;
};

// What one scan leaves to the next: growing memory anew for every series costs as much as reading it.
struct ScanMemory {
    Track a, b;
    std::int64_t window = 0; // steps of the first load; 0: as for a series of which nothing is known
};

// All steps in [from, to]; a step of one side only is a difference. Chunks with equal contents are not read.
Result<Scan> scanSteps(Source& a, Source& b, std::int64_t from, std::int64_t to, const Judge& judge,
                       ScanMemory& memory);
Result<Scan> scanSteps(Source& a, Source& b, std::int64_t from, std::int64_t to, const Judge& judge);
// Only the given pairs; a pair that neither side has is passed over.
Result<Scan> scanPairs(Source& a, Source& b, const std::vector<StepPair>& pairs, const Judge& judge);

} // namespace lockstep::align
