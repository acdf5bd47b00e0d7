#include "core/align/diagnose/evaluation_counts.h"

#include "core/align/diagnose/run_trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::align {

namespace {

std::optional<EvaluationCounts> countsAt(const RunTrace& run, std::int64_t step)
{
    EvaluationCounts counts;
    counts.step = step;
    const auto world = std::int64_t(run.ranks().size());
    for (const int rank : run.ranks()) {
        const auto all = run.value(rank, Quantity::EvalSamples, step);
        const auto own = run.value(rank, Quantity::EvalSamplesLocal, step);
        const auto size = run.value(rank, Quantity::EvalSetSize, step);
        if (!all || !own || !size)
            return {};
        counts.setSize = std::int64_t(*size);
        counts.counted = std::max(counts.counted, std::int64_t(*all));
        counts.ofRank.push_back(std::int64_t(*own));
        counts.shareOfRank.push_back(
            std::max<std::int64_t>(0, (counts.setSize - std::int64_t(rank) + world - 1) / world));
        if (counts.rank < 0 && counts.ofRank.back() > counts.shareOfRank.back())
            counts.rank = rank;
    }
    return counts;
}

} // namespace

std::optional<EvaluationCounts> evaluationCounts(const RunTrace& run)
{
    std::optional<EvaluationCounts> first;
    if (run.ranks().empty())
        return first;
    for (const std::int64_t step : run.steps(run.ranks().front(), Quantity::EvalSamples)) {
        std::optional<EvaluationCounts> here = countsAt(run, step);
        if (here && here->repeats())
            return here;
        if (!first)
            first = here;
    }
    return first;
}

std::string describe(const EvaluationCounts& counts)
{
    std::string text = fmt::format("At step {} the evaluation counted {} samples and the set has {}",
                                   counts.step, counts.counted, counts.setSize);
    const auto rank = std::size_t(counts.rank);
    if (counts.rank >= 0 && rank < counts.ofRank.size())
        text += fmt::format(": rank {} counted {} instead of {}", counts.rank, counts.ofRank[rank],
                            counts.shareOfRank[rank]);
    return text + ".";
}

} // namespace lockstep::align
