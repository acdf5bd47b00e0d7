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
// RandomSampler without replacement whose private generator was seeded with `drawnSeed`.
std::vector<std::int64_t> randomOrder(std::int64_t datasetSize, std::uint64_t drawnSeed);

} // namespace lockstep
