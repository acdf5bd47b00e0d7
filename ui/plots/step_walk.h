// Walking several series together in step order. Private to ui/plots.
#pragma once

#include "ui/plots/series_snapshot.h"

#include <algorithm>
#include <vector>

namespace lockstep {

// `visit(step, values, present)` is called once per step that any of the series has; values[s] counts only where
// present[s]. Starts at index at[s] of each series and leaves the positions behind the visited step in `at`, so that a
// visitor may remember them. Null series have no values.
template<typename Visit>
void walkSteps(const std::vector<SeriesSnapshot::Ptr>& series, std::vector<std::size_t>& at, Visit visit)
{
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

// Of at least one value, all finite; reorders them. The mean of the middle two where the count is even.
inline double medianOf(std::vector<double>& values)
{
    const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    const double upper = *middle;
    if (values.size() % 2 == 1)
        return upper;
    return (*std::max_element(values.begin(), middle) + upper) / 2;
}

} // namespace lockstep
