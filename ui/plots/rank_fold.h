// How far each rank lies from the others, step by step, for runs that grow.
//
// The distance of a rank is its value minus the median of the ranks at that step, in robust standard deviations. With a
// handful of ranks one step tells nothing about the usual scatter, so it is pooled: steps form blocks of 32, and the
// scale of a block comes from a quantile of |value - median| over all ranks of this block and the one before it. The
// quantile lies well below the median, so one odd rank of three or more does not widen its own limit.
//   - With two ranks nobody can say which one is odd: both lie equally far from the median, and a difference that stays would
//     be its own scale. There the scale is at most what the ranks move by from step to step; two ranks that draw their samples
//     independently differ by no more than that.
//   - Ranks that are equal in every bit have scale 0; then one bit of difference is far beyond any limit.
//   - Before 8 steps are known nothing is judged: the scale is the largest distance seen.
// Not a widget; one thread at a time.
#pragma once

#include "ui/plots/series_snapshot.h"

#include <map>
#include <vector>

namespace lockstep {

// One entry per rank, ascending. Immutable, shared with the GUI thread.
struct RankPicture {
    std::vector<int> ranks;
    std::vector<SeriesSnapshot::Ptr> values;
    std::vector<SeriesSnapshot::Ptr> distances; // NaN where the value is
    SeriesSnapshot::Ptr spread; // largest minus smallest finite value; steps of two ranks or more
};

class RankFold
{
public:
    // More values of a rank, steps ascending. Cost: proportional to them, unless a rank appears late.
    void append(int rank, std::span<const std::int64_t> steps, std::span<const double> values);
    // Blocks that all ranks have passed are computed once; the rest is computed again at each call.
    RankPicture picture();

private:
    struct Row;
    struct Columns;
    struct Pool {
        std::vector<double> deviations;
        std::vector<double> moves; // of two ranks: sizes of their changes from step to step
        std::size_t steps = 0;
    };
    void flush(std::vector<Row>& block, Columns& out);

    std::map<int, SeriesSnapshot::Ptr> values_;
    std::vector<SeriesSnapshot::Ptr> settled_; // distances of finished blocks, per rank
    SeriesSnapshot::Ptr settledSpread_;
    std::vector<std::size_t> settledAt_; // first value per rank that is not settled
    Pool pool_;                          // of the block before
};

// Median and range per step of the given ranks.
struct RankRange {
    SeriesSnapshot::Ptr low, high, median; // of the finite values; steps without any are absent
};
RankRange rangeOf(const std::vector<SeriesSnapshot::Ptr>& ranks);

} // namespace lockstep
