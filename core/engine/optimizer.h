// SGD, Adam and AdamW with the bits of torch.optim 2.15 on the CPU: its single-tensor loops, operation by
// operation. LibTorch's own Adam differs (mul_().add_() instead of lerp_()).
#pragma once

#include "core/config/run_config.h"

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

class Optimizer
{
public:
    virtual ~Optimizer() = default;

    // Updates every parameter that has a gradient. Calls must be under no-grad.
    virtual void step(const std::vector<at::Tensor>& parameters, double rate) = 0;

    // State of parameter i in Python's order of keys; empty before its first update. Adam's "step" is a
    // float32 scalar.
    using State = c10::SmallVector<std::pair<const char*, at::Tensor>, 3>; // asked for in every recorded step
    virtual State state(std::size_t parameter) const = 0;
    // The options of the one parameter group, in Python's order, without "params"; `rate` is the current one.
    // Values are written by checkpoint.cpp.
    struct Option {
        std::string name;
        enum Kind { Number, Flag, None, Pair } kind;
        double first = 0;
        double second = 0;
    };
    virtual std::vector<Option> options(double rate) const = 0;
    // Puts a saved state back; unknown keys are ignored.
    virtual void restore(std::size_t parameter, const std::string& key, const at::Tensor& value) = 0;

    // Number of steps the first parameter with state has taken.
    std::int64_t steps() const { return steps_; }
    void restoreSteps(std::int64_t steps) { steps_ = steps; }
    // Parameters that weight decay leaves alone, by index; none unless told.
    void excludeFromDecay(std::vector<bool> excluded) { noDecay_ = std::move(excluded); }

protected:
    double decayOf(std::size_t parameter, double decay) const
    {
        return noDecay_.empty() || !noDecay_[parameter] ? decay : 0;
    }

    std::int64_t steps_ = 0;

private:
    std::vector<bool> noDecay_;
};

std::unique_ptr<Optimizer> makeOptimizer(const RunConfig& config, std::size_t parameters);

} // namespace lockstep
