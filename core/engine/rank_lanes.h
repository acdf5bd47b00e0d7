// The ranks whose samples and random streams one process works through. Usually there is one, its own. A run that goes on
// with fewer processes keeps dealing to as many ranks as before: every process then has several of them and accumulates
// their micro-batches, so that each micro-batch keeps its samples, its size and its dropout masks.
#pragma once

#include "core/engine/data_order.h"

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

namespace lockstep {

// One int64 from the default generator, as torch.empty((), dtype=torch.int64).random_() draws it.
std::uint64_t drawSeed();

void setDefaultGenerator(const at::Tensor& state);

// Lends the default CPU generator to another stream for as long as it lives.
class StreamScope
{
public:
    explicit StreamScope(at::Tensor& stream);
    ~StreamScope();
    StreamScope(const StreamScope&) = delete;
    StreamScope& operator=(const StreamScope&) = delete;

private:
    at::Tensor& stream_;
    at::Tensor outer_;
};

class RankLanes
{
public:
    struct Micro {
        MicroBatch data;
        std::size_t lane = 0;
    };

    // `first`: the spec of the first rank; the others are the ranks after it.
    RankLanes(const DataOrderSpec& first, int count, const DataOrder::Adjust& adjust,
              const DataOrder::AdjustIds& adjustIds);

    std::size_t count() const { return lanes_.size(); }
    int firstRank() const { return firstRank_; }
    // The micro-batches of the next optimizer step, lane by lane.
    std::vector<Micro> nextStep();
    // All lanes stand at the same place; this is the first one's.
    DataOrder& data() { return *lanes_.front().data; }
    const DataOrder& data() const { return *lanes_.front().data; }
    // `baseSeeds`: by rank of the data. A rank beyond them had no part in the epoch so far; its seed follows rank 0's.
    void seek(DataPosition position, std::uint64_t orderSeed, const std::vector<std::uint64_t>& baseSeeds);

    // The first lane's stream is the default generator itself, the others' are kept here.
    at::Tensor& stream(std::size_t lane) { return lanes_[lane].stream; }
    void seed(const std::function<std::uint64_t(int rank)>& seedOf);
    // One row per lane: the state of its generator, then the bytes of its base_seed (LaneState takes a row apart).
    // `first`: the generator state of the first lane.
    at::Tensor states(const at::Tensor& first) const;

private:
    struct Lane {
        std::unique_ptr<DataOrder> data;
        at::Tensor stream;
    };
    int firstRank_;
    std::vector<Lane> lanes_;
};

struct LaneState {
    explicit LaneState(const at::Tensor& row);
    at::Tensor generator;
    std::uint64_t baseSeed = 0;
};

// Undoes what a lane's forward does to buffers: the statistics of the first lane are the ones that stay, as in DDP, where
// rank 0's are broadcast.
class BufferKeeper
{
public:
    explicit BufferKeeper(const std::vector<at::Tensor>& buffers);
    ~BufferKeeper();
    BufferKeeper(const BufferKeeper&) = delete;
    BufferKeeper& operator=(const BufferKeeper&) = delete;

private:
    const std::vector<at::Tensor>& buffers_;
    std::vector<at::Tensor> before_;
};

} // namespace lockstep
