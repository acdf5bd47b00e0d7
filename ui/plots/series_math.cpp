#include "ui/plots/series_math.h"

#include "ui/plots/step_walk.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

SeriesSnapshot::Ptr deltaOf(const SeriesSnapshot& a, const SeriesSnapshot& b)
{
    std::vector<std::int64_t> steps;
    std::vector<double> values;
    steps.reserve(std::min(a.size(), b.size()));
    values.reserve(std::min(a.size(), b.size()));
    for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
        const std::int64_t sa = a.step(i), sb = b.step(k);
        if (sa < sb) {
            ++i;
        } else if (sb < sa) {
            ++k;
        } else {
            const double va = a.value(i++), vb = b.value(k++);
            const bool agree = va == vb || (std::isnan(va) && std::isnan(vb));
            steps.push_back(sa);
            values.push_back(agree ? 0.0 : vb - va);
        }
    }
    return SeriesSnapshot::fromSteps(steps, values);
}

RankSpread spreadOf(const std::vector<SeriesSnapshot::Ptr>& ranks)
{
    std::vector<std::int64_t> steps;
    std::vector<double> low, high, mean;
    std::vector<std::size_t> at(ranks.size(), 0);
    walkSteps(ranks, at,
              [&](std::int64_t step, const std::vector<double>& values, const std::vector<bool>& present) {
                  double lo = std::nan(""), hi = std::nan(""), sum = 0;
                  int n = 0;
                  for (std::size_t s = 0; s < values.size(); ++s) {
                      if (!present[s])
                          continue;
                      lo = std::fmin(lo, values[s]);
                      hi = std::fmax(hi, values[s]);
                      sum += values[s];
                      ++n;
                  }
                  steps.push_back(step);
                  low.push_back(lo);
                  high.push_back(hi);
                  mean.push_back(sum / n);
              });
    return {SeriesSnapshot::fromSteps(steps, low), SeriesSnapshot::fromSteps(steps, high),
            SeriesSnapshot::fromSteps(steps, mean)};
}

SeriesSnapshot::Ptr laidOver(const SeriesSnapshot& series, const SeriesSnapshot& x)
{
    std::vector<std::int64_t> steps;
    std::vector<double> values;
    for (std::size_t i = 0, k = 0; i < series.size(); ++i) {
        const std::int64_t step = series.step(i);
        while (k < x.size() && x.step(k) < step)
            ++k;
        const bool known = k < x.size() && x.step(k) == step;
        if (!known && step != 0)
            continue;
        steps.push_back(known ? std::int64_t(std::llround(x.value(k))) : 0);
        values.push_back(series.value(i));
    }
    return SeriesSnapshot::fromSteps(steps, values);
}

SeriesSnapshot::Ptr smoothed(const SeriesSnapshot& series, double weight)
{
    const double w = std::clamp(weight, 0.0, 0.999999);
    std::vector<double> values(series.size());
    std::vector<std::int64_t> steps(series.stride() == 0 ? series.size() : 0);
    double average = 0, power = 1;
    for (std::size_t i = 0; i < series.size(); ++i) {
        const double value = series.value(i);
        if (!steps.empty())
            steps[i] = series.step(i);
        if (!std::isfinite(value)) {
            values[i] = value;
            continue;
        }
        average = w * average + (1 - w) * value;
        power *= w;
        values[i] = average / (1 - power);
    }
    if (!steps.empty())
        return SeriesSnapshot::fromSteps(steps, values);
    return series.empty() ? SeriesSnapshot::fromSteps({}, {})
                          : SeriesSnapshot::fromValues(series.firstStep(), series.stride(), values);
}

double symlogThresholdFor(const std::vector<SeriesSnapshot::Ptr>& series)
{
    std::vector<double> sizes;
    for (const auto& one : series) {
        if (!one)
            continue;
        // A sample of the sizes is enough: the threshold only chooses the look of the axis.
        const std::size_t every = std::max<std::size_t>(1, one->size() / 4096);
        for (std::size_t i = 0; i < one->size(); i += every) {
            const double size = std::fabs(one->value(i));
            if (std::isfinite(size) && size > 0)
                sizes.push_back(size);
        }
    }
    if (sizes.empty())
        return 1e-6;
    const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 20);
    std::nth_element(sizes.begin(), at, sizes.end());
    return std::pow(10, std::clamp(std::round(std::log10(*at)), -12.0, 0.0));
}

} // namespace lockstep
