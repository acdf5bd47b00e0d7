// Index orders of torch.utils.data samplers, as pure functions. Judge: Python torch 2.15.0.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

struct DistributedOrder {
    std::int64_t datasetSize = 0;
    int world = 1;
    bool shuffle = true;
    bool dropLast = false;
    std::uint64_t seed = 0;
    std::int64_t epoch = 0;
};

// Samples per rank of a DistributedSampler: ceil(n / world), or with dropLast and a remainder ceil((n -
// world) / world).
std::int64_t samplesPerRank(const DistributedOrder& order);
// The indices of all ranks, padded or cut, before they are dealt: rank r takes positions r, r + world, ...
std::vector<std::int64_t> globalOrder(const DistributedOrder& order);
std::vector<std::int64_t> rankOrder(const DistributedOrder& order, int rank);
// The first `count` entries of rankOrder without the rest: previews of large datasets.
std::vector<std::int64_t> rankOrderHead(const DistributedOrder& order, int rank, std::int64_t count);
// RandomSampler without replacement whose private generator was seeded with `drawnSeed`.
std::vector<std::int64_t> randomOrder(std::int64_t datasetSize, std::uint64_t drawnSeed);
// RandomSampler(replacement=True, num_samples=samples): blocks of 32 draws, then the rest.
std::vector<std::int64_t> randomOrderWithReplacement(std::int64_t datasetSize, std::int64_t samples,
                                                     std::uint64_t drawnSeed);

// BatchSampler: consecutive chunks of `batch`; a shorter last one is kept unless dropLast.
std::int64_t batchCount(std::int64_t samples, std::int64_t batch, bool dropLast);
std::vector<std::vector<std::int64_t>> batches(const std::vector<std::int64_t>& order, std::int64_t batch,
                                               bool dropLast);

// DataLoader draws its base seed whenever an iterator is made, also with num_workers = 0 and with a
// DistributedSampler. Worker k seeds torch and random with this.
inline std::uint64_t workerSeed(std::int64_t baseSeed, int worker)
{
    return std::uint64_t(baseSeed) + std::uint64_t(worker);
}

} // namespace lockstep
