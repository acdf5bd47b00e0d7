#include "core/engine/optimizer_kinds.h"

#include <ATen/ATen.h>

namespace lockstep {

Sgd::Sgd(double momentum, double weightDecay, std::size_t parameters)
    : momentum_(momentum), weightDecay_(weightDecay), buffers_(parameters)
{
}

// torch/optim/sgd.py, _single_tensor_sgd: dampening 0, no Nesterov.
void Sgd::step(const std::vector<at::Tensor>& parameters, double rate)
{
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        at::Tensor grad = parameters[i].grad();
        if (!grad.defined())
            continue;
        if (const double decay = decayOf(i, weightDecay_); decay != 0)
            grad = grad.add(parameters[i], decay);
        if (momentum_ != 0) {
            at::Tensor& buffer = buffers_[i];
            if (buffer.defined())
                buffer.mul_(momentum_).add_(grad, 1);
            else
                buffer = grad.detach().clone();
            grad = buffer;
        }
        parameters[i].add_(grad, -rate);
    }
    ++steps_;
}

Optimizer::State Sgd::state(std::size_t parameter) const
{
    if (!buffers_[parameter].defined())
        return {};
    return {{"momentum_buffer", buffers_[parameter]}};
}

std::vector<Optimizer::Option> Sgd::options(double rate) const
{
    return {{"lr", Option::Number, rate},     {"momentum", Option::Number, momentum_},
            {"dampening", Option::Number, 0}, {"weight_decay", Option::Number, weightDecay_},
            {"nesterov", Option::Flag, 0},    {"maximize", Option::Flag, 0},
            {"foreach", Option::None},        {"differentiable", Option::Flag, 0},
            {"fused", Option::None}};
}

void Sgd::restore(std::size_t parameter, const std::string& key, const at::Tensor& value)
{
    if (key == "momentum_buffer")
        buffers_[parameter] = value.clone();
}

} // namespace lockstep
