// Gradient clipping with the bits of torch.nn.utils.clip_grad_norm_ and clip_grad_value_ on the CPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace lockstep {

// Scales all gradients in place so that their joint L2 norm is at most `limit`; returns the norm before, in
// float32 as torch works with it. Parameters without gradient are left out; without any the norm is 0. Under
// no-grad.
float clipByNorm(const std::vector<at::Tensor>& parameters, double limit);
void clipByValue(const std::vector<at::Tensor>& parameters, double limit);

} // namespace lockstep
