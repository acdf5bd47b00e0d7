#include "core/sampling/samplers.h"

#include "core/sampling/torch_rng.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace lockstep {

std::int64_t samplesPerRank(const DistributedOrder& order)
{
    assert(order.world > 0 && order.datasetSize >= 0);
    const std::int64_t whole = order.datasetSize / order.world;
    return whole + (!order.dropLast && order.datasetSize % order.world != 0 ? 1 : 0);
}

std::vector<std::int64_t> globalOrder(const DistributedOrder& order)
{
    std::vector<std::int64_t> indices;
    if (order.shuffle) {
        TorchRng generator(order.seed + std::uint64_t(order.epoch));
        indices = torchRandperm(order.datasetSize, generator);
    } else {
        indices.resize(std::size_t(order.datasetSize));
        std::iota(indices.begin(), indices.end(), 0);
    }
    // Padding repeats the head, cyclically where the dataset is smaller than the padding.
    const auto drawn = indices.size();
    indices.resize(std::size_t(samplesPerRank(order) * order.world));
    for (std::size_t i = drawn; i < indices.size(); ++i)
        indices[i] = indices[i - drawn];
    return indices;
}

std::vector<std::int64_t> rankOrder(const DistributedOrder& order, int rank)
{
    assert(rank >= 0 && rank < order.world);
    const std::vector<std::int64_t> all = globalOrder(order);
    std::vector<std::int64_t> own;
    own.reserve(std::size_t(samplesPerRank(order)));
    for (std::size_t i = std::size_t(rank); i < all.size(); i += std::size_t(order.world))
        own.push_back(all[i]);
    return own;
}

std::vector<std::int64_t> rankOrderHead(const DistributedOrder& order, int rank, std::int64_t count)
{
    assert(rank >= 0 && rank < order.world);
    count = std::clamp<std::int64_t>(count, 0, samplesPerRank(order));
    std::vector<std::int64_t> places(std::size_t(count * order.world));
    if (order.shuffle) {
        TorchRng generator(order.seed + std::uint64_t(order.epoch));
        places = torchRandpermHead(order.datasetSize, std::int64_t(places.size()), generator);
    } else {
        std::iota(places.begin(), places.end(), 0);
    }
    std::vector<std::int64_t> own;
    for (std::int64_t p = 0; p < count; ++p)
        own.push_back(places[std::size_t((p * order.world + rank) % order.datasetSize)]);
    return own;
}

std::vector<std::int64_t> randomOrder(std::int64_t datasetSize, std::uint64_t drawnSeed)
{
    TorchRng generator(drawnSeed);
    return torchRandperm(datasetSize, generator);
}

std::vector<std::int64_t> randomOrderWithReplacement(std::int64_t datasetSize, std::int64_t samples,
                                                     std::uint64_t drawnSeed)
{
    TorchRng generator(drawnSeed);
    std::vector<std::int64_t> order;
    order.reserve(std::size_t(samples));
    // One draw after another: blocks of 32 and the rest give the same stream as one long draw.
    torchRandint(datasetSize, samples, generator, order);
    return order;
}

std::int64_t batchCount(std::int64_t samples, std::int64_t batch, bool dropLast)
{
    assert(batch > 0);
    return dropLast ? samples / batch : (samples + batch - 1) / batch;
}

std::vector<std::vector<std::int64_t>> batches(const std::vector<std::int64_t>& order, std::int64_t batch,
                                               bool dropLast)
{
    std::vector<std::vector<std::int64_t>> chunks;
    const std::int64_t count = batchCount(std::int64_t(order.size()), batch, dropLast);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto begin = order.begin() + i * batch;
        chunks.emplace_back(begin, std::min(begin + batch, order.end()));
    }
    return chunks;
}

} // namespace lockstep
