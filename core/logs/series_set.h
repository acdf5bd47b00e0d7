// Where the readers put what they find: the series of one run, and of one input all runs. Private to core/logs.
#pragma once

#include "core/logs/log_data.h"

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lockstep::logs {

struct Value {
    double value = 0;
    LogStorage storage = LogStorage::Float64;
    std::optional<PrintedDigits> printed; // of a finite number in text
};

class SeriesSet
{
public:
    explicit SeriesSet(LogRun about) : about_(std::move(about)) {}

    LogRun& about() { return about_; }
    void add(std::optional<int> rank, std::string_view tag, std::int64_t step, const Value& value);
    // The writer said that it goes on at `step`: earlier points of all series at or after it are superseded.
    void restartAt(std::int64_t step);
    bool empty() const { return series_.empty(); }
    // The series with `superseded` filled: a step smaller than the one before it in its series supersedes earlier points at or
    // after it.
    std::vector<LogSeries> take();

private:
    struct Restart { // at this length of the series
        std::size_t at;
        std::int64_t step;
    };
    struct Entry {
        LogSeries series;
        std::vector<Restart> restarts;
    };
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };
    using ByTag = std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>>;

    LogRun about_;
    std::deque<Entry> series_;
    std::map<int, ByTag> byRank_; // -1: unknown
};

// All runs of one input, and its problems.
class Collector
{
public:
    // The set of that name and format; made on first use.
    SeriesSet& run(const std::string& format, const std::string& name);
    // At most kMostProblems of a file are kept, the last one says how many more there were.
    void problem(const std::string& file, std::optional<std::uint64_t> offset, std::string text);
    std::size_t runs() const { return order_.size(); }
    bool hasProblems() const { return !problems_.empty(); }
    LogData take();

private:
    static constexpr std::size_t kMostProblems = 20;

    std::map<std::pair<std::string, std::string>, SeriesSet> sets_;
    std::vector<SeriesSet*> order_;
    std::vector<LogProblem> problems_;
    std::map<std::string, std::size_t> problemsOf_; // by file
};

} // namespace lockstep::logs
