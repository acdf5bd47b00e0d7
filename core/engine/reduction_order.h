// In which order a collective adds the gradients of W ranks. Floating-point addition commutes but does not
// associate: with two ranks every order gives the same bits, from three on the order decides the last ones.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace lockstep {

// Gloo's all-reduce(SUM), a ring (gloo/allreduce.cc, as ProcessGroupGloo of torch 2.15 calls it). The flat
// buffer of n elements is cut into W chunks; indices modulo W:
//   chunk c = (((g[c-1] + g[c-2]) + g[c-3]) + ...) + g[c]
//   segments = max(ceil(bytes / 1 MiB), 2 W) rounded up to a multiple of W
//   chunk length = segments / W * ceil(ceil(bytes / segments) / element size)
at::Tensor glooRingSum(const std::vector<at::Tensor>& gradients);

// ((g0 + g1) + g2) + ... for every element.
at::Tensor rankOrderSum(const std::vector<at::Tensor>& gradients);

} // namespace lockstep
