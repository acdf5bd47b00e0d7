// Gradient clipping with the bits of torch.nn.utils.clip_grad_norm_ and clip_grad_value_ on the CPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace lockstep {

// The joint L2 norm of all gradients, a float32 scalar as torch works with it; undefined without any gradient.
at::Tensor gradientNorm(const std::vector<at::Tensor>& parameters);
// Scales all gradients in place so that a joint norm of `norm` becomes `limit` at most; returns `norm`. Parameters
// without gradient are left out. Under no-grad.
float clipToNorm(const std::vector<at::Tensor>& parameters, const at::Tensor& norm, double limit);
void clipByValue(const std::vector<at::Tensor>& parameters, double limit);

} // namespace lockstep
