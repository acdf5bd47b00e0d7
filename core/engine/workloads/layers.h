// What Python's modules call, for layers whose C++ module takes another path (torch::nn::Linear does for 3-D
// input under autocast). Weights and their initial bits come from the torch::nn modules.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/modules/linear.h>

namespace lockstep {

inline at::Tensor linear(const torch::nn::Linear& layer, const at::Tensor& x)
{
    return at::linear(x, layer->weight, layer->bias);
}

inline at::Tensor crossEntropy(const at::Tensor& output, const at::Tensor& target, bool sum)
{
    return at::cross_entropy_loss(output, target, {}, sum ? at::Reduction::Sum : at::Reduction::Mean);
}

} // namespace lockstep
