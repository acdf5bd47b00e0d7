#include "core/base/fingerprint.h"
#include "core/gates/data_plan.h"
#include "core/gates/large_array.h"
#include "core/sampling/samplers.h"
#include "core/sampling/torch_rng.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace lockstep {

namespace {

struct Arrays {
    LargeArray<std::uint32_t> ids;
    LargeArray<std::uint64_t> contents;
};

std::uint64_t contentOf(std::uint32_t id)
{
    return fingerprintMix(0, id);
}

// The first `order.size()` entries of the epoch's permutation, padded cyclically as DistributedSampler does.
void fillOrder(std::uint32_t* out, std::size_t rows, const DataPlan& plan, std::uint64_t seed)
{
    const auto size = std::size_t(plan.datasetSize);
    const std::size_t own = std::min(rows, size);
    if (plan.shuffle && plan.fault("A10") == nullptr && own > 0) {
        // drop_last cuts a whole permutation, so the array has room for all of it.
        std::iota(out, out + size, 0u);
        TorchRng generator(seed);
        torchShuffle(std::span(out, size), generator);
    } else {
        std::iota(out, out + own, 0u);
    }
    for (std::size_t i = size; i < rows; ++i)
        out[i] = out[i - size];
}

// Row p of `ids` belongs to rank p % world.
EpochOrder deal(const DataPlan& plan, const Arrays& arrays, std::size_t perRank)
{
    EpochOrder order;
    order.dealt = true;
    for (int r = 0; r < plan.world; ++r)
        order.ranks.push_back({arrays.ids.data() + r, std::size_t(plan.world), perRank, nullptr, nullptr});
    return order;
}

// A1 and A2: every rank walks the whole dataset.
EpochOrder everybodySeesAll(const DataPlan& plan, std::uint64_t seed, bool sequential, Arrays& arrays)
{
    const auto size = std::size_t(plan.datasetSize);
    arrays.ids = LargeArray<std::uint32_t>(size);
    DataPlan whole = plan;
    whole.shuffle = plan.shuffle && !sequential;
    fillOrder(arrays.ids.data(), size, whole, seed);
    EpochOrder order;
    order.ranks.assign(std::size_t(plan.world), {arrays.ids.data(), 1, size, nullptr, nullptr});
    return order;
}

// A4: the ranks deal from permutations of their own, with the same stride.
EpochOrder everybodyOwnPermutation(const DataPlan& plan, std::uint64_t seed, std::size_t perRank,
                                   Arrays& arrays)
{
    const auto world = std::size_t(plan.world);
    arrays.ids = LargeArray<std::uint32_t>(perRank * world);
    LargeArray<std::uint32_t> own(std::max(perRank * world, std::size_t(plan.datasetSize)));
    for (std::size_t r = 0; r < world; ++r) {
        fillOrder(own.data(), perRank * world, plan, seed + r);
        for (std::size_t p = 0; p < perRank; ++p)
            arrays.ids[p * world + r] = own[p * world + r];
    }
    return deal(plan, arrays, perRank);
}

// The sample position (per rank) of the first step after a resume in `epoch`; -1: no resume in that epoch.
std::int64_t resumePosition(const DataPlan& plan, std::int64_t epoch, std::size_t perRank)
{
    const FaultSpec* fault = plan.fault("F7");
    if (!fault || perRank == 0)
        return -1;
    const std::int64_t perStep = plan.batch * plan.accumulate;
    const std::int64_t steps = (std::int64_t(perRank) + perStep - 1) / perStep;
    const auto it = fault->parameters.find("step");
    // Optimizer steps done when the run was interrupted; by default the middle of the second epoch.
    const std::int64_t done =
        it != fault->parameters.end() ? std::atoll(it->second.c_str()) : steps + steps / 2;
    return done / steps == epoch ? done % steps * perStep : -1;
}

void addContents(const DataPlan& plan, EpochOrder& order, Arrays& arrays)
{
    const bool ownTables = plan.fault("A7") != nullptr;
    arrays.contents = LargeArray<std::uint64_t>(arrays.ids.size());
    std::vector<std::int64_t> table;
    for (std::size_t r = 0; r < order.ranks.size(); ++r) {
        RankIds& rank = order.ranks[r];
        if (ownTables) {
            TorchRng generator(r);
            table = torchRandperm(plan.datasetSize, generator);
        }
        std::uint64_t* contents = arrays.contents.data() + (rank.ids - arrays.ids.data());
        for (std::size_t p = 0; p < rank.count; ++p)
            contents[p * rank.stride] = contentOf(ownTables ? std::uint32_t(table[rank[p]]) : rank[p]);
        rank.contents = contents;
    }
}

} // namespace

EpochOrder simulateEpoch(const DataPlan& plan, std::int64_t epoch, bool withContents)
{
    const std::int64_t seedEpoch = plan.fault("A3") ? 0 : epoch;
    const std::uint64_t seed = plan.samplerSeed + std::uint64_t(seedEpoch);
    const DistributedOrder sampler{.datasetSize = plan.datasetSize,
                                   .world = plan.world,
                                   .shuffle = plan.shuffle,
                                   .dropLast = plan.dropLast || plan.fault("A6") != nullptr,
                                   .seed = plan.samplerSeed,
                                   .epoch = seedEpoch};
    const auto perRank = std::size_t(samplesPerRank(sampler));
    const auto arrays = std::make_shared<Arrays>();
    EpochOrder order;
    if (plan.fault("A1")) {
        order = everybodySeesAll(plan, seed, false, *arrays);
    } else if (plan.fault("A2")) {
        order = everybodySeesAll(plan, seed, true, *arrays);
    } else if (plan.fault("A4")) {
        order = everybodyOwnPermutation(plan, seed, perRank, *arrays);
    } else {
        const std::size_t rows = perRank * std::size_t(plan.world);
        arrays->ids = LargeArray<std::uint32_t>(std::max(rows, std::size_t(plan.datasetSize)));
        fillOrder(arrays->ids.data(), rows, plan, seed);
        if (const std::int64_t resume = resumePosition(plan, epoch, perRank); resume >= 0) {
            LargeArray<std::uint32_t> first(arrays->ids.size());
            fillOrder(first.data(), rows, plan, plan.samplerSeed);
            const auto begin = std::size_t(resume) * std::size_t(plan.world);
            std::copy(first.begin() + begin, first.begin() + rows, arrays->ids.begin() + begin);
        }
        order = deal(plan, *arrays, perRank);
    }
    order.epoch = epoch;
    if (withContents)
        addContents(plan, order, *arrays);
    order.owner = arrays;
    return order;
}

std::vector<StreamDraw> simulateDraws(const DataPlan& plan)
{
    std::vector<StreamDraw> draws;
    for (int r = 0; r < plan.world; ++r) {
        TorchRng own(plan.seed + (plan.fault("E6") ? 0 : std::uint64_t(r)));
        draws.push_back({r, -1, own.random64()});
        TorchRng loader(plan.seed + (plan.fault("A8") ? 0 : std::uint64_t(r)));
        const std::int64_t baseSeed = torchDrawInt64(loader);
        for (int w = 0; w < plan.workers; ++w) {
            TorchRng worker(workerSeed(baseSeed, w));
            draws.push_back({r, w, worker.random64()});
        }
    }
    return draws;
}

std::int64_t effectiveBatch(const DataPlan& plan)
{
    return plan.fault("A9") && plan.referenceBatch > 0 ? plan.referenceBatch / plan.accumulate : plan.batch;
}

} // namespace lockstep
