// Who sees which sample in one epoch: the form in which a simulated sampler, an imported id list and the
// records of a run are all judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lockstep {

// The samples of one rank in the order of use. Ids are dense, 0..datasetSize-1 (DataFacts::originalIds maps
// them back).
struct RankIds {
    const std::uint32_t* ids = nullptr;
    std::size_t stride = 1;
    std::size_t count = 0;
    const std::uint64_t* contents = nullptr; // content hash per sample; nullptr: not known
    const std::uint32_t* steps =
        nullptr; // optimizer step per sample (contiguous); nullptr: follows from the batch

    std::uint32_t operator[](std::size_t position) const { return ids[position * stride]; }
    std::uint64_t content(std::size_t position) const { return contents[position * stride]; }
};

struct EpochOrder {
    std::int64_t epoch = 0;
    std::vector<RankIds> ranks;
    // One array dealt round-robin: rank r starts at ranks[0].ids + r with stride = number of ranks. Checked
    // in one sweep.
    bool dealt = false;
    std::shared_ptr<const void> owner; // what keeps the arrays alive

    std::size_t rows() const
    {
        std::size_t sum = 0;
        for (const RankIds& rank : ranks)
            sum += rank.count;
        return sum;
    }
};

} // namespace lockstep
