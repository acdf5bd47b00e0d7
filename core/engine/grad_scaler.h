// Loss scaling for fp16, with the bits and the state of torch.amp.GradScaler 2.15.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

class GradScaler
{
public:
    static constexpr double kGrowthFactor = 2.0;
    static constexpr double kBackoffFactor = 0.5;

    // `device`: where the parameters lie.
    GradScaler(double initialScale, std::int64_t growthInterval, at::Device device);

    at::Tensor scale(const at::Tensor& loss) const;
    // Divides all gradients by the scale and looks for inf and NaN. Once per step, after the reduction over ranks, so
    // that all of them find the same. Under no-grad.
    void unscale(const std::vector<at::Tensor>& parameters);
    bool foundInf() const { return foundInf_; } // the step must be left out
    void setFoundInf(bool found);               // what a planted fault makes this rank believe
    // Halves the scale after a step with inf, doubles it after growthInterval steps without.
    void update();

    double value() const; // scale
    std::int64_t growthInterval() const { return growthInterval_; }
    std::int64_t growthTracker() const; // steps without inf since the scale changed
    void restore(double scale, std::int64_t growthTracker);

private:
    std::int64_t growthInterval_;
    at::Tensor scale_;   // float32, 0-d
    at::Tensor tracker_; // int32, 0-d
    at::Tensor found_;   // float32, 0-d: 1 if anything was not finite
    bool foundInf_ = false;
};

} // namespace lockstep
