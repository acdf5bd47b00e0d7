// Counts of one epoch over all ranks: who sees a sample twice, which samples nobody sees. Bitmaps, one bit
// per sample, so 100 million samples at world 1,024 need 25 MB beside the order itself.
#pragma once

#include "core/gates/epoch_order.h"

#include <cstdint>
#include <vector>

namespace lockstep {

// An id that was dealt more than once: where it came first and where again.
struct RepeatedId {
    std::uint32_t id = 0;
    int firstRank = 0;
    std::int64_t firstPosition = 0;
    int rank = 0;
    std::int64_t position = 0;
};

struct EpochCoverage {
    std::int64_t epoch = 0;
    std::int64_t rows = 0;       // samples dealt to all ranks together
    std::int64_t distinct = 0;   // different ids among them
    std::int64_t omitted = 0;    // ids below datasetSize that nobody was dealt
    std::int64_t outOfRange = 0; // rows whose id is not below datasetSize
    // Padding as DistributedSampler does it: rows behind the dataset in dealing order that repeat its head.
    std::int64_t padding = 0;
    std::int64_t overlapped = 0;          // ids on more than one rank, padding rows aside
    std::int64_t repeatedInRank = 0;      // rows whose id the same rank was dealt before, padding rows aside
    bool ranksIdentical = false;          // more than one rank, all with the same sequence
    std::vector<std::int64_t> counts;     // per rank
    std::vector<std::uint64_t> sequences; // per rank: fingerprint of its ids in order
    // Examples, at most kExamples each, in order of position.
    std::vector<RepeatedId> repeats; // not padding
    std::vector<RepeatedId> paddings;
    std::vector<std::uint32_t> omissions;

    static constexpr std::size_t kExamples = 16;

    bool partition() const { return overlapped == 0 && repeatedInRank == 0 && outOfRange == 0; }
};

// W * ceil(N / W) - N, which a padding sampler repeats; 0 with drop_last.
std::int64_t expectedPadding(std::int64_t datasetSize, int world, bool dropLast);

// `threads`: sweeps over a dealt order are shared out to this many.
EpochCoverage coverEpoch(const EpochOrder& order, std::int64_t datasetSize, int threads = 2);

} // namespace lockstep
