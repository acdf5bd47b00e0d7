#include "core/logs/series_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace lockstep::logs {

void SeriesSet::add(std::optional<int> rank, std::string_view tag, std::int64_t step, const Value& value)
{
    ByTag& tags = byRank_[rank.value_or(-1)];
    auto found = tags.find(tag);
    if (found == tags.end()) {
        found = tags.emplace(std::string(tag), series_.size()).first;
        Entry& made = series_.emplace_back();
        made.series.rank = rank;
        made.series.tag = tag;
        made.series.storage = value.storage;
    }
    Entry& entry = series_[found->second];
    LogSeries& series = entry.series;
    if (!series.steps.empty() && step < series.steps.back())
        entry.restarts.push_back({series.steps.size(), step});
    series.steps.push_back(step);
    series.values.push_back(value.value);
    if (!value.printed)
        return;
    if (!series.printed)
        series.printed = value.printed;
    else if (series.printed->scientific == value.printed->scientific)
        series.printed->digits = std::min(series.printed->digits, value.printed->digits);
}

void SeriesSet::restartAt(std::int64_t step)
{
    for (Entry& entry : series_)
        entry.restarts.push_back({entry.series.steps.size(), step});
}

std::vector<LogSeries> SeriesSet::take()
{
    std::vector<LogSeries> all;
    for (Entry& entry : series_) {
        LogSeries& series = entry.series;
        series.run = about_.run;
        // From the end: a point is superseded by the lowest step at which anything after it went on.
        auto limit = std::numeric_limits<std::int64_t>::max();
        bool any = false;
        std::size_t restart = entry.restarts.size();
        for (std::size_t i = series.steps.size(); i-- > 0 && !entry.restarts.empty();) {
            for (; restart > 0 && entry.restarts[restart - 1].at == i + 1; --restart) {
                limit = std::min(limit, entry.restarts[restart - 1].step);
                any = true;
            }
            if (!any || series.steps[i] < limit)
                continue;
            if (!series.superseded.empty() && series.superseded.back().first == i + 1)
                series.superseded.back().first = i;
            else
                series.superseded.emplace_back(i, i);
        }
        std::reverse(series.superseded.begin(), series.superseded.end());
        all.push_back(std::move(series));
    }
    series_.clear();
    byRank_.clear();
    return all;
}

SeriesSet& Collector::run(const std::string& format, const std::string& name)
{
    const auto [set, added] = sets_.try_emplace({format, name}, LogRun{name, format, {}, {}});
    if (added)
        order_.push_back(&set->second);
    return set->second;
}

void Collector::problem(const std::string& file, std::optional<std::uint64_t> offset, std::string text)
{
    const std::size_t count = ++problemsOf_[file];
    if (count <= kMostProblems)
        problems_.push_back({file, offset, std::move(text)});
    else if (count == kMostProblems + 1)
        problems_.push_back({file, offset, {}}); // its text is the number of those left out
}

LogData Collector::take()
{
    LogData data;
    for (SeriesSet* set : order_) {
        if (set->empty())
            continue;
        data.runs.push_back(set->about());
        for (LogSeries& series : set->take())
            data.series.push_back(std::move(series));
    }
    data.problems = std::move(problems_);
    for (LogProblem& problem : data.problems) {
        if (problem.text.empty())
            problem.text = fmt::format("{} more places of this file could not be read",
                                       problemsOf_[problem.file] - kMostProblems);
    }
    return data;
}

} // namespace lockstep::logs
