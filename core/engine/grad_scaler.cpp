#include "core/engine/grad_scaler.h"

#include <ATen/ATen.h>

namespace lockstep {

GradScaler::GradScaler(double initialScale, std::int64_t growthInterval, at::Device device)
    : growthInterval_(growthInterval),
      scale_(at::full({}, initialScale, at::TensorOptions(at::kFloat).device(device))),
      tracker_(at::full({}, 0, at::TensorOptions(at::kInt).device(device))),
      found_(at::full({}, 0.0, at::TensorOptions(at::kFloat).device(device)))
{
}

at::Tensor GradScaler::scale(const at::Tensor& loss) const
{
    return loss * scale_;
}

void GradScaler::unscale(const std::vector<at::Tensor>& parameters)
{
    std::vector<at::Tensor> grads;
    for (const at::Tensor& p : parameters)
        if (p.grad().defined())
            grads.push_back(p.grad());
    found_.zero_();
    // The reciprocal in float64, as Python takes it.
    const at::Tensor inverse = scale_.to(at::kDouble).reciprocal().to(at::kFloat);
    if (!grads.empty())
        at::_amp_foreach_non_finite_check_and_unscale_(grads, found_, inverse);
    foundInf_ = found_.item<float>() != 0;
}

void GradScaler::setFoundInf(bool found)
{
    found_.fill_(found ? 1.0 : 0.0);
    foundInf_ = found;
}

void GradScaler::update()
{
    at::_amp_update_scale_(scale_, tracker_, found_, kGrowthFactor, kBackoffFactor, growthInterval_);
}

double GradScaler::value() const
{
    return scale_.item<double>();
}

std::int64_t GradScaler::growthTracker() const
{
    return tracker_.item<std::int64_t>();
}

void GradScaler::restore(double scale, std::int64_t growthTracker)
{
    scale_.fill_(scale);
    tracker_.fill_(growthTracker);
}

} // namespace lockstep
