#include "core/engine/reduction_order.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace lockstep {

namespace {

constexpr std::int64_t kMaxSegmentBytes = 1 << 20;

std::int64_t ceilDiv(std::int64_t a, std::int64_t b)
{
    return (a + b - 1) / b;
}

std::int64_t chunkLength(std::int64_t elements, std::int64_t elementSize, std::int64_t world)
{
    const std::int64_t bytes = elements * elementSize;
    const std::int64_t maxSegment = elementSize * std::max<std::int64_t>(1, kMaxSegmentBytes / elementSize);
    const std::int64_t segments = ceilDiv(std::max(ceilDiv(bytes, maxSegment), 2 * world), world) * world;
    return segments / world * ceilDiv(ceilDiv(bytes, segments), elementSize);
}

} // namespace

at::Tensor glooRingSum(const std::vector<at::Tensor>& gradients)
{
    const auto world = std::int64_t(gradients.size());
    const std::int64_t n = gradients[0].numel();
    const std::int64_t chunk = chunkLength(n, gradients[0].element_size(), world);
    at::Tensor sum = at::empty_like(gradients[0]);
    for (std::int64_t c = 0; c < world && c * chunk < n; ++c) {
        const std::int64_t from = c * chunk;
        const std::int64_t to = std::min(n, from + chunk);
        at::Tensor part = sum.slice(0, from, to);
        part.copy_(gradients[std::size_t((c + world - 1) % world)].slice(0, from, to));
        for (std::int64_t k = 2; k <= world; ++k)
            part.add_(gradients[std::size_t((c + 2 * world - k) % world)].slice(0, from, to));
    }
    return sum;
}

at::Tensor rankOrderSum(const std::vector<at::Tensor>& gradients)
{
    at::Tensor sum = gradients[0].clone();
    for (std::size_t r = 1; r < gradients.size(); ++r)
        sum.add_(gradients[r]);
    return sum;
}

} // namespace lockstep
