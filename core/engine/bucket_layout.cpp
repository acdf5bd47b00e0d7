#include "core/engine/bucket_layout.h"

#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>
#include <limits>

namespace lockstep {

BucketLimits bucketLimits(const RunConfig& config)
{
    if (config.bucketMb > 0) {
        const auto bytes = std::size_t(config.bucketMb * 1024 * 1024);
        return {bytes, bytes};
    }
    return {std::size_t(c10d::kDefaultFirstBucketBytes), std::size_t(c10d::kDefaultBucketBytesCap)};
}

Buckets firstBuckets(const std::vector<at::Tensor>& parameters, BucketLimits limits, bool findUnused)
{
    const std::vector<std::size_t> sizes =
        findUnused ? std::vector<std::size_t>{limits.first, limits.cap}
                   : std::vector<std::size_t>{std::size_t(std::numeric_limits<std::int64_t>::max())};
    Buckets buckets = std::get<0>(c10d::compute_bucket_assignment_by_size(
        parameters, sizes, std::vector<bool>(parameters.size(), false)));
    std::reverse(buckets.begin(), buckets.end());
    return buckets;
}

Buckets rebuiltBuckets(const std::vector<at::Tensor>& parameters, const std::vector<std::size_t>& arrival,
                       BucketLimits limits)
{
    std::vector<at::Tensor> arrived;
    std::vector<std::int64_t> indices;
    for (const std::size_t i : arrival) {
        arrived.push_back(parameters[i]);
        indices.push_back(std::int64_t(i));
    }
    return std::get<0>(c10d::compute_bucket_assignment_by_size(
        arrived, {limits.first, limits.cap}, std::vector<bool>(arrived.size(), false), indices));
}

} // namespace lockstep
