#include "core/engine/optimizer_kinds.h"

#include <ATen/ATen.h>

#include <cmath>

namespace lockstep {

namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEpsilon = 1e-8;

} // namespace

Adam::Adam(double weightDecay, bool decoupled, std::size_t parameters)
    : weightDecay_(weightDecay), decoupled_(decoupled), states_(parameters)
{
}

// torch/optim/adam.py, _single_tensor_adam. Parameters without gradient do not advance.
void Adam::step(const std::vector<at::Tensor>& parameters, double rate)
{
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const at::Tensor& p = parameters[i];
        at::Tensor grad = p.grad();
        if (!grad.defined())
            continue;
        Moments& s = states_[i];
        if (!s.average.defined()) {
            s.average = at::zeros_like(p);
            s.square = at::zeros_like(p);
            s.stepCount = at::zeros({}, at::kFloat);
        }
        const double t = double(++*s.stepCount.data_ptr<float>());
        const double decay = decayOf(i, weightDecay_);
        if (decay != 0 && decoupled_)
            p.mul_(1 - rate * decay);
        else if (decay != 0)
            grad = grad.add(p, decay);
        s.average.lerp_(grad, 1 - kBeta1);
        s.square.mul_(kBeta2).addcmul_(grad, grad, 1 - kBeta2);
        const double correction1 = 1 - std::pow(kBeta1, t);
        const double correction2 = 1 - std::pow(kBeta2, t);
        // Python's ** 0.5 is pow, not sqrt.
        at::Tensor denominator = s.square.sqrt().div_(std::pow(correction2, 0.5)).add_(kEpsilon);
        p.addcdiv_(s.average, denominator, -(rate / correction1));
    }
    ++steps_;
}

Optimizer::State Adam::state(std::size_t parameter) const
{
    const Moments& s = states_[parameter];
    if (!s.average.defined())
        return {};
    return {{"step", s.stepCount}, {"exp_avg", s.average}, {"exp_avg_sq", s.square}};
}

std::vector<Optimizer::Option> Adam::options(double rate) const
{
    return {{"lr", Option::Number, rate},
            {"betas", Option::Pair, kBeta1, kBeta2},
            {"eps", Option::Number, kEpsilon},
            {"weight_decay", Option::Number, weightDecay_},
            {"amsgrad", Option::Flag, 0},
            {"maximize", Option::Flag, 0},
            {"foreach", Option::None},
            {"capturable", Option::Flag, 0},
            {"differentiable", Option::Flag, 0},
            {"fused", Option::None},
            {"decoupled_weight_decay", Option::Flag, decoupled_ ? 1.0 : 0.0}};
}

void Adam::restore(std::size_t parameter, const std::string& key, const at::Tensor& value)
{
    Moments& s = states_[parameter];
    if (key == "step")
        s.stepCount = value.clone();
    else if (key == "exp_avg")
        s.average = value.clone();
    else if (key == "exp_avg_sq")
        s.square = value.clone();
}

} // namespace lockstep
