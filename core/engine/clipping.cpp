#include "core/engine/clipping.h"

#include <ATen/ATen.h>

namespace lockstep {

namespace {

std::vector<at::Tensor> gradientsOf(const std::vector<at::Tensor>& parameters)
{
    std::vector<at::Tensor> grads;
    for (const at::Tensor& p : parameters)
        if (p.grad().defined())
            grads.push_back(p.grad());
    return grads;
}

} // namespace

at::Tensor gradientNorm(const std::vector<at::Tensor>& parameters)
{
    const std::vector<at::Tensor> grads = gradientsOf(parameters);
    return grads.empty() ? at::Tensor() : at::linalg_vector_norm(at::stack(at::_foreach_norm(grads, 2)), 2);
}

float clipToNorm(const std::vector<at::Tensor>& parameters, const at::Tensor& norm, double limit)
{
    // Python evaluates limit / tensor as reciprocal() * limit: other last bits than a true division.
    const at::Tensor factor = (norm + 1e-6).reciprocal().mul(limit).clamp_max(1.0);
    at::_foreach_mul_(gradientsOf(parameters), factor);
    return norm.item<float>();
}

void clipByValue(const std::vector<at::Tensor>& parameters, double limit)
{
    const std::vector<at::Tensor> grads = gradientsOf(parameters);
    if (grads.empty())
        return;
    at::_foreach_clamp_min_(grads, -limit);
    at::_foreach_clamp_max_(grads, limit);
}

} // namespace lockstep
