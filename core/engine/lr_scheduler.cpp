#include "core/engine/lr_scheduler.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace lockstep {

namespace {

constexpr double kGamma = 0.1;
constexpr double kStartFactor = 1.0 / 3;

// Python's % on integers: the result has the sign of the divisor.
std::int64_t floorMod(std::int64_t a, std::int64_t b)
{
    const std::int64_t m = a % b;
    return m < 0 ? m + b : m;
}

double nextCosine(double rate, double base, std::int64_t n, std::int64_t period)
{
    const double t = double(period);
    if (floorMod(n - 1 - period, 2 * period) == 0)
        return rate + base * (1 - std::cos(std::numbers::pi / t)) / 2;
    return (1 + std::cos(std::numbers::pi * double(n) / t)) /
           (1 + std::cos(std::numbers::pi * double(n - 1) / t)) * rate;
}

double nextWarmup(double rate, std::int64_t n, std::int64_t period)
{
    if (n > period)
        return rate;
    const double rise = 1.0 - kStartFactor;
    return rate * (1.0 + rise / (double(period) * kStartFactor + double(n - 1) * rise));
}

} // namespace

std::int64_t LrScheduler::defaultPeriod(const std::string& kind, std::int64_t totalSteps)
{
    const std::int64_t parts = kind == "step" ? 3 : kind == "warmup" ? 10 : 1;
    return std::max<std::int64_t>(1, totalSteps / parts);
}

LrScheduler::LrScheduler(std::string kind, double baseRate, std::int64_t period, std::int64_t totalSteps)
    : kind_(std::move(kind)),
      base_(baseRate),
      rate_(baseRate),
      period_(period > 0 ? period : defaultPeriod(kind_, totalSteps))
{
    if (kind_ == "warmup")
        rate_ = baseRate * kStartFactor;
}

void LrScheduler::advance()
{
    ++n_;
    if (kind_ == "step" && n_ % period_ == 0)
        rate_ *= kGamma;
    else if (kind_ == "cosine")
        rate_ = nextCosine(rate_, base_, n_, period_);
    else if (kind_ == "warmup")
        rate_ = nextWarmup(rate_, n_, period_);
}

void LrScheduler::restore(std::int64_t lastEpoch, double rate)
{
    n_ = lastEpoch;
    rate_ = rate;
}

} // namespace lockstep
