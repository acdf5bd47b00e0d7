#include "ui/plots/series_math.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

// Walks several series in step order: `visit(step, values)` gets one entry per series, nullptr where it has
// no record.
template<typename Visit>
void walkSteps(const std::vector<SeriesSnapshot::Ptr>& series, Visit visit)
{
    std::vector<std::size_t> at(series.size(), 0);
    std::vector<double> values(series.size());
    std::vector<bool> present(series.size());
    for (;;) {
        bool any = false;
        std::int64_t step = 0;
        for (std::size_t s = 0; s < series.size(); ++s) {
            if (series[s] && at[s] < series[s]->size() && (!any || series[s]->step(at[s]) < step)) {
                step = series[s]->step(at[s]);
                any = true;
            }
        }
        if (!any)
            return;
        for (std::size_t s = 0; s < series.size(); ++s) {
            present[s] = series[s] && at[s] < series[s]->size() && series[s]->step(at[s]) == step;
            if (present[s])
                values[s] = series[s]->value(at[s]++);
        }
        visit(step, values, present);
    }
}

double medianOf(std::vector<double>& values)
{
    const std::size_t middle = values.size() / 2;
    std::nth_element(values.begin(), values.begin() + middle, values.end());
    const double upper = values[middle];
    if (values.size() % 2 == 1)
        return upper;
    return (*std::max_element(values.begin(), values.begin() + middle) + upper) / 2;
}

} // namespace

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
    walkSteps(ranks,
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

std::vector<SeriesSnapshot::Ptr> distanceToMedian(const std::vector<SeriesSnapshot::Ptr>& ranks, double floor)
{
    std::vector<std::vector<std::int64_t>> steps(ranks.size());
    std::vector<std::vector<double>> distances(ranks.size());
    std::vector<double> finite, deviations;
    walkSteps(ranks,
              [&](std::int64_t step, const std::vector<double>& values, const std::vector<bool>& present) {
                  finite.clear();
                  deviations.clear();
                  for (std::size_t s = 0; s < values.size(); ++s)
                      if (present[s] && std::isfinite(values[s]))
                          finite.push_back(values[s]);
                  double median = std::nan(""), scale = 1;
                  if (!finite.empty()) {
                      median = medianOf(finite);
                      for (const double value : finite)
                          deviations.push_back(std::fabs(value - median));
                      scale = std::max(1.4826 * medianOf(deviations), floor);
                  }
                  for (std::size_t s = 0; s < values.size(); ++s) {
                      if (!present[s])
                          continue;
                      steps[s].push_back(step);
                      const double distance = values[s] - median;
                      distances[s].push_back(distance == 0 ? 0 : distance / scale);
                  }
              });
    std::vector<SeriesSnapshot::Ptr> result;
    for (std::size_t s = 0; s < ranks.size(); ++s)
        result.push_back(SeriesSnapshot::fromSteps(steps[s], distances[s]));
    return result;
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
