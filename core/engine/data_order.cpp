#include "core/engine/data_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lockstep {

namespace {

std::vector<std::int64_t> wholeOrder(const DataOrderSpec& spec, std::uint64_t seed)
{
    if (spec.sampler.shuffle)
        return randomOrder(spec.sampler.datasetSize, seed);
    std::vector<std::int64_t> ids(std::size_t(spec.sampler.datasetSize));
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
}

} // namespace

DataOrder::DataOrder(DataOrderSpec spec, Adjust adjust, AdjustIds adjustIds)
    : spec_(std::move(spec)), adjust_(std::move(adjust)), adjustIds_(std::move(adjustIds))
{
}

std::int64_t DataOrder::microBatchesPerEpoch() const
{
    DataOrderSpec spec = spec_;
    if (adjust_)
        adjust_(spec);
    const std::int64_t samples = spec.pythonShuffle ? spec.sampler.datasetSize : samplesPerRank(spec.sampler);
    return batchCount(samples, spec.batch, false);
}

std::int64_t DataOrder::stepsPerEpoch() const
{
    return (microBatchesPerEpoch() + spec_.accumulate - 1) / spec_.accumulate;
}

void DataOrder::fill(const DataOrderSpec& spec, std::uint64_t orderSeed)
{
    batches_.clear();
    allSamples_.clear();
    if (spec.pythonShuffle) {
        batches_ = batches(wholeOrder(spec, orderSeed), spec.batch, false);
        return;
    }
    const int ranks = std::max(1, spec.joinedRanks);
    for (int r = 0; r < ranks; ++r) {
        const int rank = spec.joinedRanks > 0 ? (r + spec.joinFrom) % ranks : spec.rank;
        std::vector<std::int64_t> ids = rankOrder(spec.sampler, rank % spec.sampler.world);
        if (adjustIds_)
            adjustIds_(spec, ids);
        auto own = batches(ids, spec.batch, false);
        if (spec.redeal)
            spec.redeal(spec, own, allSamples_);
        if (batches_.empty())
            batches_ = std::move(own);
        else
            for (std::size_t b = 0; b < own.size(); ++b)
                batches_[b].insert(batches_[b].end(), own[b].begin(), own[b].end());
    }
}

void DataOrder::openEpoch(std::uint64_t orderSeed)
{
    orderSeed_ = orderSeed;
    DataOrderSpec spec = spec_;
    spec.sampler.epoch = position_.epoch;
    if (adjust_)
        adjust_(spec);
    fill(spec, orderSeed);
    next_ = 0;
    open_ = true;
}

std::vector<MicroBatch> DataOrder::nextStep(const Draw& draw)
{
    if (open_ && next_ == batches_.size()) {
        ++position_.epoch;
        open_ = false;
    }
    if (!open_) {
        baseSeed_ = draw();
        openEpoch(spec_.pythonShuffle && spec_.sampler.shuffle ? draw() : 0);
    }
    std::vector<MicroBatch> step;
    for (; next_ < batches_.size() && step.size() < std::size_t(spec_.accumulate); ++next_)
        step.push_back({position_.epoch, batches_[next_], allSamples_.empty() ? 0 : allSamples_[next_]});
    position_.consumed = std::int64_t(next_);
    return step;
}

void DataOrder::seek(DataPosition position, std::uint64_t orderSeed, std::uint64_t baseSeed)
{
    position_ = position;
    baseSeed_ = baseSeed;
    openEpoch(orderSeed);
    next_ = std::min(std::size_t(position.consumed), batches_.size());
}

} // namespace lockstep
