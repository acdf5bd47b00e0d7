#include "core/gates/epoch_review.h"

#include <algorithm>

namespace lockstep {

std::int64_t StepAxis::stepsOf(const RankIds& rank) const
{
    const auto count = std::int64_t(rank.count);
    if (count == 0)
        return 0;
    if (!rank.steps)
        return (count + perStep_ - 1) / perStep_;
    std::int64_t steps = 1;
    for (std::int64_t p = 1; p < count; ++p)
        steps += rank.steps[p] != rank.steps[p - 1];
    return steps;
}

namespace {

// Samples of `rank` in the step that starts at `position`; moves `position` behind it.
std::int64_t takeStep(const RankIds& rank, const StepAxis& axis, std::size_t& position)
{
    const std::size_t begin = position;
    if (!rank.steps) {
        position = std::min(rank.count, position + std::size_t(axis.perStep()));
    } else {
        while (position < rank.count && rank.steps[position] == rank.steps[begin])
            ++position;
    }
    return std::int64_t(position - begin);
}

} // namespace

void reviewSteps(const EpochOrder& order, const StepAxis& axis, std::int64_t firstStep, EpochReview& review)
{
    review.firstStep = firstStep;
    bool sameShape = true;
    for (const RankIds& rank : order.ranks) {
        review.rankSteps.push_back(axis.stepsOf(rank));
        sameShape = sameShape && !rank.steps && rank.count == order.ranks.front().count;
    }
    review.steps = *std::max_element(review.rankSteps.begin(), review.rankSteps.end());
    if (sameShape) {
        if (review.steps > 1)
            review.fullStep = axis.perStep() * std::int64_t(order.ranks.size());
        const auto count = std::int64_t(order.ranks.front().count);
        review.lastSamples.assign(order.ranks.size(), count == 0 ? 0 : (count - 1) % axis.perStep() + 1);
        return;
    }
    std::vector<std::size_t> positions(order.ranks.size());
    review.lastSamples.assign(order.ranks.size(), 0);
    for (std::int64_t s = 0; s < review.steps; ++s) {
        const std::vector<std::size_t> begins = positions;
        for (std::size_t r = 0; r < order.ranks.size(); ++r)
            review.lastSamples[r] = takeStep(order.ranks[r], axis, positions[r]);
        if (s == 0 && review.steps > 1)
            for (const std::int64_t samples : review.lastSamples)
                review.fullStep += samples;
        const auto [fewest, most] = std::minmax_element(review.lastSamples.begin(), review.lastSamples.end());
        if (*fewest != *most && review.unequalStep.rank < 0) {
            const auto r = std::size_t(fewest - review.lastSamples.begin());
            const auto full = std::size_t(most - review.lastSamples.begin());
            review.unequalStep = {int(r), std::int64_t(begins[r]),
                                  axis.stepAt(order.ranks[full], std::int64_t(begins[full]), firstStep)};
        }
    }
}

OrderComparison compareOrders(const EpochOrder& order, const EpochOrder& expected, const StepAxis& axis,
                              std::int64_t firstStep)
{
    OrderComparison comparison;
    comparison.made = order.ranks.size() == expected.ranks.size();
    if (!comparison.made)
        return comparison;
    for (std::size_t r = 0; r < order.ranks.size(); ++r) {
        const RankIds& a = order.ranks[r];
        const RankIds& b = expected.ranks[r];
        const std::size_t common = std::min(a.count, b.count);
        std::int64_t equal = 0;
        std::int64_t firstDifference = a.count == b.count ? -1 : std::int64_t(common);
        for (std::size_t p = 0; p < common; ++p) {
            const bool same = a[p] == b[p];
            equal += same;
            if (!same && (firstDifference < 0 || std::int64_t(p) < firstDifference))
                firstDifference = std::int64_t(p);
        }
        comparison.equalPerRank.push_back(equal);
        comparison.equalRows += equal;
        comparison.rows += std::int64_t(std::max(a.count, b.count));
        if (firstDifference >= 0 &&
            (comparison.first.position < 0 || firstDifference < comparison.first.position))
            comparison.first = {int(r), firstDifference, axis.stepAt(a, firstDifference, firstStep)};
    }
    return comparison;
}

bool isSequential(const EpochOrder& order, std::size_t least)
{
    std::size_t ascents = 0;
    for (const RankIds& rank : order.ranks)
        for (std::size_t p = 1; p < rank.count; ++p) {
            // Padding at the end may fall back to the head.
            if (rank[p] <= rank[p - 1] && p + 1 != rank.count)
                return false;
            ++ascents;
        }
    return ascents >= least;
}

std::int64_t findResume(const EpochOrder& order, const EpochOrder& first)
{
    if (order.ranks.size() != first.ranks.size())
        return -1;
    std::size_t shortest = SIZE_MAX; // common tail, over all ranks
    for (std::size_t r = 0; r < order.ranks.size(); ++r) {
        const RankIds& a = order.ranks[r];
        const RankIds& b = first.ranks[r];
        if (a.count != b.count)
            return -1;
        std::size_t tail = 0;
        while (tail < a.count && a[a.count - 1 - tail] == b[b.count - 1 - tail])
            ++tail;
        shortest = std::min(shortest, tail);
    }
    const std::size_t count = order.ranks.front().count;
    if (shortest == 0 || shortest >= count || shortest * order.ranks.size() < 4)
        return -1;
    return std::int64_t(count - shortest);
}

} // namespace lockstep
