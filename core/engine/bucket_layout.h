// In which flat buffers the Reducer lays gradients. The layout is part of the arithmetic for three ranks and
// more (Gloo's order of additions depends on the place in the buffer), so the run and its twin take it from
// here.
#pragma once

#include "core/config/run_config.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

namespace lockstep {

using Buckets = std::vector<std::vector<std::size_t>>; // parameter indices, in the order of each flat buffer

struct BucketLimits { // bytes
    std::size_t first;
    std::size_t cap;
};

// bucket_cap_mb given: both limits are that; not given: 1 MiB, then 25 MiB.
BucketLimits bucketLimits(const RunConfig& config);

// What DistributedDataParallel starts with: one bucket, or with find_unused_parameters the limits as they
// are; reversed.
Buckets firstBuckets(const std::vector<at::Tensor>& parameters, BucketLimits limits, bool findUnused);

// What the Reducer changes to after its first reduction: the limits over parameters in the order in which
// their gradients arrived (indices into `parameters`). Never with find_unused_parameters.
Buckets rebuiltBuckets(const std::vector<at::Tensor>& parameters, const std::vector<std::size_t>& arrival,
                       BucketLimits limits);

} // namespace lockstep
