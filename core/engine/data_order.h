// Which samples a rank sees in which order, cut into micro-batches and optimizer steps. No torch: the orders
// come from core/sampling, the draws from the default generator come through a callback.
#pragma once

#include "core/sampling/samplers.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace lockstep {

struct DataOrderSpec {
    DistributedOrder sampler; // epoch is set by DataOrder
    int rank = 0;
    int joinedRanks = 0; // above 0: trains on the micro-batches of this many ranks joined in rank order
    int joinFrom = 0;    // the rank that comes first when they are joined
    bool pythonShuffle = false; // DataLoader(shuffle=...) over the whole set instead of a DistributedSampler
    std::int64_t batch = 32;
    int accumulate = 1;
    // A fault that deals a global batch unevenly: changes the batches of one rank and says how many samples all ranks
    // together have in each.
    std::function<void(const DataOrderSpec&, std::vector<std::vector<std::int64_t>>& own,
                       std::vector<std::int64_t>& all)>
        redeal;
};

struct MicroBatch {
    std::int64_t epoch = 0;
    std::vector<std::int64_t> ids;
    std::int64_t all = 0; // samples of all ranks in this micro-batch; 0: as many on each
};

// Where a rank stands in its data: enough to continue an interrupted epoch.
struct DataPosition {
    std::int64_t epoch = 0;
    std::int64_t consumed = 0; // micro-batches of this epoch already used
};

class DataOrder
{
public:
    // One int64 from the default CPU generator, as torch.empty((), dtype=int64).random_() gives it.
    using Draw = std::function<std::uint64_t()>;
    // Faults change the order of an epoch here; called once per epoch with the spec about to be used.
    using Adjust = std::function<void(DataOrderSpec&)>;
    // The last word on the ids a rank was dealt.
    using AdjustIds = std::function<void(const DataOrderSpec&, std::vector<std::int64_t>&)>;

    explicit DataOrder(DataOrderSpec spec, Adjust adjust = {}, AdjustIds adjustIds = {});

    // The micro-batches of the next optimizer step: `accumulate` of them, fewer at the end of an epoch. Opens
    // the next epoch where the current one is used up; an epoch draws base_seed first, as every DataLoader
    // iterator does, also with num_workers=0 and with a DistributedSampler; then RandomSampler's seed where
    // there is one.
    std::vector<MicroBatch> nextStep(const Draw& draw);

    std::int64_t microBatchesPerEpoch() const;
    std::int64_t stepsPerEpoch() const;
    DataPosition position() const { return position_; }
    bool epochEnded() const { return open_ && next_ == batches_.size(); }
    // Continues inside an epoch whose draws were already taken when the position was saved: RandomSampler's seed in
    // that epoch (ignored otherwise) and base_seed.
    void seek(DataPosition position, std::uint64_t orderSeed, std::uint64_t baseSeed);
    std::uint64_t orderSeed() const { return orderSeed_; }
    // Drawn when the epoch was opened: what the loader's workers would be seeded from.
    std::uint64_t baseSeed() const { return baseSeed_; }

private:
    void openEpoch(std::uint64_t orderSeed);
    void fill(const DataOrderSpec& spec, std::uint64_t orderSeed);

    DataOrderSpec spec_;
    Adjust adjust_;
    AdjustIds adjustIds_;
    DataPosition position_;
    std::vector<std::vector<std::int64_t>> batches_;
    std::vector<std::int64_t> allSamples_; // by batch; empty unless dealt unevenly
    std::size_t next_ = 0;
    std::uint64_t orderSeed_ = 0;
    std::uint64_t baseSeed_ = 0;
    bool open_ = false;
};

} // namespace lockstep
