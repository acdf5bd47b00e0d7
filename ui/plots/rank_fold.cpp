#include "ui/plots/rank_fold.h"

#include "ui/plots/step_walk.h"

#include <cmath>
#include <cstdint>

namespace lockstep {

namespace {

constexpr std::size_t kBlock = 32;     // a loss that falls steeply scatters less from block to block
constexpr std::size_t kJudgedFrom = 8; // steps
// A small pool may come out too small by chance: the scale is widened by 1 + kWidening / deviations.
constexpr double kWidening = 24;

// Which quantile of the deviations stands for the scatter, and what makes it the standard deviation of normal values
// (by simulation; with the deviation nearest to the median left out).
struct Estimator {
    double quantile, toSigma;
};

Estimator estimatorFor(std::size_t ranks)
{
    if (ranks <= 2)
        return {0.5, 2.10};
    if (ranks == 3)
        return {0.25, 3.18};
    return ranks == 4 ? Estimator{0.3, 2.83} : Estimator{0.3, 2.65};
}

// From the median size of one rank's change between two steps to the standard deviation of half the difference of two ranks,
// for independent normal values: a change has sqrt(2) times the deviation of a value, half a difference 1 / sqrt(2) times.
constexpr double kMoveToSigma = 1.4826 / 2;

// Far below one unit in the last place, so that any difference between equal ranks counts.
constexpr double kFloor = 1e-17;

double quantileOf(std::vector<double> values, double q)
{
    if (values.empty())
        return 0;
    const auto at = values.begin() + std::ptrdiff_t(q * double(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

} // namespace

struct RankFold::Row {
    std::int64_t step = 0;
    double median = 0;
    double spread = -1; // negative: fewer than two finite values
    std::vector<double> values;
    std::vector<bool> present;
    std::vector<double> deviations; // sizes
    std::vector<double> moves;      // since the row before it in its block; of two ranks only
};

struct RankFold::Columns {
    explicit Columns(std::size_t ranks) : steps(ranks), values(ranks) {}

    std::vector<std::vector<std::int64_t>> steps;
    std::vector<std::vector<double>> values;
    std::vector<std::int64_t> spreadSteps;
    std::vector<double> spread;
};

void RankFold::append(int rank, std::span<const std::int64_t> steps, std::span<const double> values)
{
    if (steps.empty())
        return;
    SeriesSnapshot::Ptr& series = values_[rank];
    if (!series) { // its steps may lie in blocks that seemed finished
        settled_.clear();
        settledAt_.clear();
    }
    series = series ? series->appended(steps, values) : SeriesSnapshot::fromSteps(steps, values);
}

// Distances of the rows of one block; empties it and makes its deviations the pool of the next.
void RankFold::flush(std::vector<Row>& block, Columns& out)
{
    Pool own;
    own.steps = block.size();
    std::size_t fewest = SIZE_MAX;
    for (const Row& row : block) {
        own.deviations.insert(own.deviations.end(), row.deviations.begin(), row.deviations.end());
        own.moves.insert(own.moves.end(), row.moves.begin(), row.moves.end());
        if (!row.deviations.empty())
            fewest = std::min(fewest, row.deviations.size());
    }
    std::vector<double> pool = pool_.deviations, moves = pool_.moves;
    pool.insert(pool.end(), own.deviations.begin(), own.deviations.end());
    moves.insert(moves.end(), own.moves.begin(), own.moves.end());
    double scale = 0;
    if (pool_.steps + block.size() < kJudgedFrom) {
        for (const double deviation : pool)
            scale = std::max(scale, deviation);
    } else if (!pool.empty()) {
        const Estimator estimator = estimatorFor(fewest == SIZE_MAX ? 2 : fewest + 1);
        scale =
            estimator.toSigma * quantileOf(pool, estimator.quantile) * (1 + kWidening / double(pool.size()));
        if (moves.size() >= kJudgedFrom)
            scale = std::min(scale,
                             kMoveToSigma * quantileOf(moves, 0.5) * (1 + kWidening / double(moves.size())));
    }
    for (const Row& row : block) {
        const double unit = std::max({scale, kFloor * std::fabs(row.median), 1e-300});
        for (std::size_t r = 0; r < row.values.size(); ++r) {
            if (!row.present[r])
                continue;
            const double distance = row.values[r] - row.median;
            out.steps[r].push_back(row.step);
            out.values[r].push_back(distance == 0 ? 0 : distance / unit);
        }
        if (row.spread >= 0) {
            out.spreadSteps.push_back(row.step);
            out.spread.push_back(row.spread);
        }
    }
    pool_ = std::move(own);
    block.clear();
}

RankPicture RankFold::picture()
{
    RankPicture result;
    for (const auto& [rank, series] : values_) {
        result.ranks.push_back(rank);
        result.values.push_back(series);
    }
    const std::size_t ranks = result.ranks.size();
    const SeriesSnapshot::Ptr none = SeriesSnapshot::fromSteps({}, {});
    if (settledAt_.size() != ranks || !settledSpread_) {
        settledAt_.assign(ranks, 0);
        settled_.assign(ranks, none);
        settledSpread_ = none;
        pool_ = {};
    }
    std::int64_t complete = INT64_MAX; // every rank has passed this step
    for (const SeriesSnapshot::Ptr& series : result.values)
        complete = std::min(complete, series->lastStep());

    Columns done(ranks), open(ranks);
    bool settling = true;
    Pool settledPool = pool_;
    std::vector<Row> block;
    std::vector<double> finite;
    std::vector<std::size_t> at = settledAt_;
    walkSteps(result.values, at,
              [&](std::int64_t step, const std::vector<double>& values, const std::vector<bool>& present) {
                  Row row{step, std::nan(""), -1, values, present, {}, {}};
                  finite.clear();
                  for (std::size_t r = 0; r < ranks; ++r)
                      if (present[r] && std::isfinite(values[r]))
                          finite.push_back(values[r]);
                  if (!finite.empty()) {
                      const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
                      row.spread = finite.size() > 1 ? *high - *low : -1;
                      row.median = medianOf(finite);
                      if (finite.size() > 1) {
                          for (const double value : finite)
                              row.deviations.push_back(std::fabs(value - row.median));
                          // 0, or the same as another one: says nothing of its own
                          row.deviations.erase(
                              std::min_element(row.deviations.begin(), row.deviations.end()));
                      }
                  }
                  if (ranks == 2 && finite.size() == 2 && !block.empty())
                      for (std::size_t r = 0; r < ranks; ++r)
                          if (block.back().present[r] && std::isfinite(block.back().values[r]))
                              row.moves.push_back(std::fabs(values[r] - block.back().values[r]));
                  block.push_back(std::move(row));
                  if (block.size() < kBlock)
                      return;
                  settling = settling && step <= complete;
                  flush(block, settling ? done : open);
                  if (settling) {
                      settledAt_ = at;
                      settledPool = pool_;
                  }
              });
    flush(block, open);
    pool_ = std::move(settledPool);
    settledSpread_ = settledSpread_->appended(done.spreadSteps, done.spread);
    result.spread = settledSpread_->appended(open.spreadSteps, open.spread);
    for (std::size_t r = 0; r < ranks; ++r) {
        settled_[r] = settled_[r]->appended(done.steps[r], done.values[r]);
        result.distances.push_back(settled_[r]->appended(open.steps[r], open.values[r]));
    }
    return result;
}

RankRange rangeOf(const std::vector<SeriesSnapshot::Ptr>& ranks)
{
    std::vector<std::int64_t> steps;
    std::vector<double> low, high, median, finite;
    std::vector<std::size_t> at(ranks.size(), 0);
    walkSteps(ranks, at,
              [&](std::int64_t step, const std::vector<double>& values, const std::vector<bool>& present) {
                  finite.clear();
                  for (std::size_t r = 0; r < ranks.size(); ++r)
                      if (present[r] && std::isfinite(values[r]))
                          finite.push_back(values[r]);
                  if (finite.empty())
                      return;
                  const auto [lowest, highest] = std::minmax_element(finite.begin(), finite.end());
                  steps.push_back(step);
                  low.push_back(*lowest);
                  high.push_back(*highest);
                  median.push_back(medianOf(finite));
              });
    return {SeriesSnapshot::fromSteps(steps, low), SeriesSnapshot::fromSteps(steps, high),
            SeriesSnapshot::fromSteps(steps, median)};
}

} // namespace lockstep
