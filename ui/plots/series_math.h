// Series computed from series, always from every stored value and in double. Pure functions; call them off
// the GUI thread for long series.
#pragma once

#include "ui/plots/series_snapshot.h"

namespace lockstep {

// b - a at every step that both have. Where both are NaN, or both the same infinity, the difference is 0
// (they agree); where one is not finite it is NaN or infinite and drawn as such. Equal steps within one
// series pair in order.
SeriesSnapshot::Ptr deltaOf(const SeriesSnapshot& a, const SeriesSnapshot& b);

// Per step over the ranks that have a record there: smallest, largest and mean value. min and max skip NaN
// while another rank has a number; a NaN in any rank makes the mean NaN.
struct RankSpread {
    SeriesSnapshot::Ptr min, max, mean;
};
RankSpread spreadOf(const std::vector<SeriesSnapshot::Ptr>& ranks);

// The values of `series` at x(step) instead of step; steps without an x are left out, step 0 lies at 0. `x` must grow.
SeriesSnapshot::Ptr laidOver(const SeriesSnapshot& series, const SeriesSnapshot& x);

// Exponential moving average with bias correction: m = w * m + (1 - w) * v, shown m / (1 - w^n). Values that
// are not finite are passed through and do not enter the average. weight in [0, 1).
SeriesSnapshot::Ptr smoothed(const SeriesSnapshot& series, double weight);

// A symlog threshold for a delta curve: a power of ten near the smallest non-zero size of its values that is
// not an exception (5 % quantile), between 1e-12 and 1; 1e-6 where there is none.
double symlogThresholdFor(const std::vector<SeriesSnapshot::Ptr>& series);

} // namespace lockstep
