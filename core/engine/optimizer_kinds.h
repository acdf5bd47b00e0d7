// The optimizers behind makeOptimizer(); sgd.cpp and adam.cpp.
#pragma once

#include "core/engine/optimizer.h"

namespace lockstep {

class Sgd final : public Optimizer
{
public:
    Sgd(double momentum, double weightDecay, std::size_t parameters);
    void step(const std::vector<at::Tensor>& parameters, double rate) override;
    State state(std::size_t parameter) const override;
    std::vector<Option> options(double rate) const override;
    void restore(std::size_t parameter, const std::string& key, const at::Tensor& value) override;

private:
    double momentum_;
    double weightDecay_;
    std::vector<at::Tensor> buffers_;
};

class Adam final : public Optimizer
{
public:
    // decoupled: AdamW, the decay is applied to the weights and not to the gradient.
    Adam(double weightDecay, bool decoupled, std::size_t parameters);
    void step(const std::vector<at::Tensor>& parameters, double rate) override;
    State state(std::size_t parameter) const override;
    std::vector<Option> options(double rate) const override;
    void restore(std::size_t parameter, const std::string& key, const at::Tensor& value) override;

private:
    struct Moments {
        at::Tensor average;   // exp_avg
        at::Tensor square;    // exp_avg_sq
        at::Tensor stepCount; // float32 scalar, as Python keeps it
    };
    double weightDecay_;
    bool decoupled_;
    std::vector<Moments> states_;
};

} // namespace lockstep
