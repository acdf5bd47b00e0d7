#include "core/engine/rank_lanes.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cstring>
#include <optional>
#include <utility>

namespace lockstep {

namespace {

at::Tensor defaultGenerator()
{
    return at::detail::getDefaultCPUGenerator().get_state();
}

} // namespace

std::uint64_t drawSeed()
{
    return std::uint64_t(at::empty({}, at::kLong).random_().item<std::int64_t>());
}

void setDefaultGenerator(const at::Tensor& state)
{
    at::Generator generator = at::detail::getDefaultCPUGenerator(); // a handle
    generator.set_state(state);
}

StreamScope::StreamScope(at::Tensor& stream) : stream_(stream), outer_(defaultGenerator())
{
    setDefaultGenerator(stream_);
}

StreamScope::~StreamScope()
{
    stream_ = defaultGenerator();
    setDefaultGenerator(outer_);
}

RankLanes::RankLanes(const DataOrderSpec& first, int count, const DataOrder::Adjust& adjust,
                     const DataOrder::AdjustIds& adjustIds)
    : firstRank_(first.rank)
{
    for (int l = 0; l < count; ++l) {
        DataOrderSpec spec = first;
        spec.rank += l;
        lanes_.push_back({std::make_unique<DataOrder>(spec, adjust, adjustIds), at::Tensor()});
    }
}

std::vector<RankLanes::Micro> RankLanes::nextStep()
{
    std::vector<Micro> step;
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
        std::optional<StreamScope> stream;
        if (l > 0)
            stream.emplace(lanes_[l].stream);
        for (MicroBatch& micro : lanes_[l].data->nextStep(drawSeed))
            step.push_back({std::move(micro), l});
    }
    return step;
}

void RankLanes::seek(DataPosition position, std::uint64_t orderSeed,
                     const std::vector<std::uint64_t>& baseSeeds)
{
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
        const std::size_t rank = std::size_t(firstRank_) + l;
        lanes_[l].data->seek(position, orderSeed,
                             rank < baseSeeds.size() ? baseSeeds[rank] : baseSeeds.at(0) + rank);
    }
}

void RankLanes::seed(const std::function<std::uint64_t(int rank)>& seedOf)
{
    for (std::size_t l = lanes_.size(); l-- > 0;) { // the first lane's stays in the generator
        at::manual_seed(seedOf(firstRank_ + int(l)));
        if (l > 0)
            lanes_[l].stream = defaultGenerator();
    }
}

at::Tensor RankLanes::states(const at::Tensor& first) const
{
    std::vector<at::Tensor> rows;
    for (const Lane& lane : lanes_) {
        const at::Tensor seed = at::empty({std::int64_t(sizeof(std::uint64_t))}, at::kByte);
        const std::uint64_t value = lane.data->baseSeed();
        std::memcpy(seed.data_ptr(), &value, sizeof value);
        rows.push_back(at::cat({rows.empty() ? first : lane.stream, seed}));
    }
    return at::stack(rows);
}

LaneState::LaneState(const at::Tensor& row)
{
    const std::int64_t generatorBytes = row.size(0) - std::int64_t(sizeof baseSeed);
    generator = row.slice(0, 0, generatorBytes).clone();
    const at::Tensor seed = row.slice(0, generatorBytes).contiguous();
    std::memcpy(&baseSeed, seed.data_ptr(), sizeof baseSeed);
}

BufferKeeper::BufferKeeper(const std::vector<at::Tensor>& buffers) : buffers_(buffers)
{
    for (const at::Tensor& b : buffers_)
        before_.push_back(b.clone());
}

BufferKeeper::~BufferKeeper()
{
    const at::NoGradGuard noGrad;
    for (std::size_t i = 0; i < before_.size(); ++i)
        buffers_[i].copy_(before_[i]);
}

} // namespace lockstep
