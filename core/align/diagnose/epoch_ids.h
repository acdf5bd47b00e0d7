// The sample ids of one epoch of a run, rank by rank.
#pragma once

#include "core/align/diagnose/run_trace.h"

#include <set>
#include <vector>

namespace lockstep::align {

struct EpochIds {
    std::int64_t epoch = -1;
    std::int64_t firstStep = -1; // first and last step of the epoch, as far as it was recorded
    std::int64_t lastStep = -1;
    bool complete = false; // the run went on to another epoch, or said that this one ended
    std::vector<std::vector<std::int64_t>> ranks;
    std::vector<std::vector<std::uint64_t>> hashes;
    std::set<std::int64_t> all; // ids of any rank

    std::size_t count() const; // ids of all ranks, repeats included
    bool ascending() const;    // every rank's ids
    bool sameOnRanks() const;  // every rank has the same ids in the same order
    // Ids that more than one rank has.
    std::size_t shared() const;
};

// At most this many steps of an epoch are read: patterns show long before.
inline constexpr std::int64_t kEpochWindow = 4096;

// The epoch in which the run took the step.
EpochIds epochAt(const RunTrace& run, std::int64_t step);
// That epoch by number, the first time it occurs; epoch -1 where the run has none.
EpochIds epochNumber(const RunTrace& run, std::int64_t epoch);

} // namespace lockstep::align
