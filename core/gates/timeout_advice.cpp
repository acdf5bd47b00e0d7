#include "core/gates/timeout_advice.h"

#include "core/gates/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace lockstep {

namespace {

constexpr double kShortestTimeout = 1; // below this the scheduler of a busy machine is a fault
constexpr double kGlooDefault = 1800;

struct TimedStep {
    std::int64_t step = 0;
    int rank = 0;
    double seconds = 0;
};

std::string inSeconds(double seconds)
{
    return seconds < 0.1  ? fmt::format("{:.4f} s", seconds)
           : seconds < 10 ? fmt::format("{:.2f} s", seconds)
                          : fmt::format("{:.0f} s", seconds);
}

Result<std::vector<TimedStep>> stepTimes(RunReader& run)
{
    const Result<std::vector<SeriesInfo>> series = run.series();
    if (!series)
        return series.error();
    std::vector<TimedStep> times;
    for (const SeriesInfo& info : *series) {
        if (info.key.quantity != Quantity::TimeStep)
            continue;
        const Result<SeriesData> data = run.read(info.key);
        if (!data)
            return data.error();
        for (std::size_t i = 0; i < data->size(); ++i)
            if (data->steps[i] > 0 && std::isfinite(data->value(i)))
                times.push_back({data->steps[i], info.key.rank, data->value(i)});
    }
    if (times.empty())
        return Error{ErrorKind::Input, "There is nothing to take a timeout from",
                     "the run recorded no step times",
                     "Record a run of some hundred steps with --record step"};
    return times;
}

StepTimes distribution(std::vector<TimedStep> times)
{
    StepTimes result;
    if (times.empty())
        return result;
    std::sort(times.begin(), times.end(),
              [](const TimedStep& a, const TimedStep& b) { return a.seconds < b.seconds; });
    // Nearest rank: the smallest value that at least this share of all values does not exceed.
    const auto percentile = [&times](double share) {
        const auto place = std::size_t(std::ceil(share * double(times.size())));
        return times[std::max<std::size_t>(place, 1) - 1].seconds;
    };
    result.count = std::int64_t(times.size());
    result.p50 = percentile(0.5);
    result.p99 = percentile(0.99);
    result.max = times.back().seconds;
    result.maxStep = times.back().step;
    result.maxRank = times.back().rank;
    return result;
}

// Launch, joining and first steps, as the host saw them, of the newest start of the run.
struct StartTimes {
    std::int64_t launched = -1;
    std::map<int, std::int64_t> joined;
    std::map<int, std::int64_t> stepped;

    double skew() const
    {
        const auto earlier = [](const auto& a, const auto& b) { return a.second < b.second; };
        const auto [first, last] = std::minmax_element(joined.begin(), joined.end(), earlier);
        return joined.empty() ? 0 : double(last->second - first->second) * 1e-9;
    }
    double restart() const
    {
        std::int64_t last = launched;
        for (const auto& [rank, ns] : stepped)
            last = std::max(last, ns);
        return launched < 0 || stepped.empty() ? 0 : double(last - launched) * 1e-9;
    }
};

StartTimes startTimes(const std::vector<EventRecord>& events)
{
    StartTimes times;
    for (const EventRecord& event : events) {
        if (event.kind == "launch") {
            times = {};
            times.launched = event.monotonicNs;
        } else if (event.kind == "join") {
            times.joined.emplace(event.rank, event.monotonicNs);
        } else if (event.kind == "first_step") {
            times.stepped.emplace(event.rank, event.monotonicNs);
        }
    }
    return times;
}

void pauses(TimeoutAdvice& advice, const std::vector<TimedStep>& times, const std::set<std::int64_t>& first,
            const std::set<std::int64_t>& afterCheckpoint)
{
    std::vector<TimedStep> steady;
    TimedStep slowestFirst, slowestCheckpoint;
    for (const TimedStep& time : times) {
        if (first.count(time.step) > 0)
            slowestFirst = std::max(slowestFirst, time,
                                    [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
        else if (afterCheckpoint.count(time.step) > 0)
            slowestCheckpoint = std::max(slowestCheckpoint, time,
                                         [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
        else
            steady.push_back(time);
    }
    advice.steady = distribution(std::move(steady));
    advice.firstStep = slowestFirst.seconds;
    advice.checkpointPause = slowestCheckpoint.seconds;
    struct Pause {
        double seconds;
        const char* kind;
        std::int64_t step;
    };
    const std::array pauses = {Pause{advice.steady.max, "a steady step", advice.steady.maxStep},
                               Pause{slowestFirst.seconds, "the first step", slowestFirst.step},
                               Pause{slowestCheckpoint.seconds, "a checkpoint", slowestCheckpoint.step - 1}};
    const Pause& longest = *std::max_element(
        pauses.begin(), pauses.end(), [](const Pause& a, const Pause& b) { return a.seconds < b.seconds; });
    advice.longestPause = longest.seconds;
    advice.longestPauseKind = longest.kind;
    advice.longestPauseStep = longest.step;
}

void explain(TimeoutAdvice& advice)
{
    const auto term = [&advice](std::string label, std::string value) {
        advice.terms.push_back({std::move(label), std::move(value)});
    };
    const StepTimes& steady = advice.steady;
    term(fmt::format("steady steps of {} ranks, {} measured: p50, p99, max", advice.world,
                     grouped(steady.count)),
         fmt::format("{}, {}, {}", inSeconds(steady.p50), inSeconds(steady.p99), inSeconds(steady.max)));
    term("first step", inSeconds(advice.firstStep));
    term("longest wait for a checkpoint",
         advice.checkpoints > 0 ? inSeconds(advice.checkpointPause) : std::string("none written"));
    term(fmt::format("longest pause that is no fault: {}, step {}", advice.longestPauseKind,
                     advice.longestPauseStep),
         inSeconds(advice.longestPause));
    term("safety factor", fmt::format("x {:g}", kPauseSafety));
    term(fmt::format("start-up skew, {} x {}", counted(advice.world, "rank", "ranks"),
                     inSeconds(advice.skewPerRank)),
         fmt::format("+ {}", inSeconds(advice.skewPerRank * advice.world)));
    term("sum", inSeconds(advice.pauseBudget));
    term(fmt::format("recovery: restart {}, {} {}",
                     advice.restart > 0 ? inSeconds(advice.restart) : std::string("not recorded"),
                     counted(advice.lostStepCount, "lost step", "lost steps"), inSeconds(advice.lostSteps)),
         inSeconds(advice.recovery));
    term("larger of both, rounded up", fmt::format("{:g} s", advice.timeout));
    term(fmt::format("heartbeat: {} missed beats of {:g} s", kMissedBeats, kBeatSeconds),
         fmt::format("{:g} s", advice.heartbeat));
    advice.sentence =
        fmt::format("One hang costs {:.0f} rank-seconds instead of {} with Gloo's default of {} s. False "
                    "alarms: {} of {} "
                    "recorded steps took longer than {:g} s; the longest took {}.",
                    advice.timeout * advice.world, grouped(std::int64_t(kGlooDefault) * advice.world),
                    grouped(std::int64_t(kGlooDefault)), grouped(advice.overTimeout), grouped(steady.count),
                    advice.timeout, inSeconds(advice.longestPause));
}

} // namespace

double roundedUp(double seconds)
{
    if (!(seconds > 0))
        return 0;
    const double unit = std::pow(10, std::floor(std::log10(seconds)));
    for (const double factor : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0})
        if (factor * unit >= seconds * (1 - 1e-9))
            return factor * unit;
    return 10 * unit;
}

Result<TimeoutAdvice> adviseTimeout(RunReader& run)
{
    Result<std::vector<TimedStep>> times = stepTimes(run);
    if (!times)
        return times.error();
    const Result<std::vector<EventRecord>> events = run.events();
    if (!events)
        return events.error();
    const Result<std::vector<SegmentInfo>> segments = run.segments();
    if (!segments)
        return segments.error();
    const Result<std::string> json = run.property("config");
    if (!json)
        return json.error();
    const Result<RunConfig> config = json->empty() ? RunConfig() : runConfigFromJson(*json);

    TimeoutAdvice advice;
    std::set<std::int64_t> first, afterCheckpoint;
    for (const SegmentInfo& segment : *segments) {
        first.insert(std::max<std::int64_t>(segment.firstStep, 1));
        advice.world = segment.world;
    }
    for (const EventRecord& event : *events)
        if (event.kind == "checkpoint") {
            afterCheckpoint.insert(event.step + 1);
            ++advice.checkpoints;
        }
    pauses(advice, *times, first, afterCheckpoint);

    const StartTimes start = startTimes(*events);
    advice.skewPerRank = start.skew() / advice.world;
    advice.pauseBudget = kPauseSafety * advice.longestPause + start.skew();
    advice.restart = start.restart();
    std::int64_t lastStep = 0;
    for (const TimedStep& time : *times)
        lastStep = std::max(lastStep, time.step);
    const std::int64_t every = config ? config->checkpointEvery : 0;
    // Without regular checkpoints a loss sends the run back to its start.
    advice.lostStepCount = every > 0 ? every : lastStep;
    advice.lostSteps = double(advice.lostStepCount) * advice.steady.p50;
    advice.recovery = advice.restart + advice.lostSteps;
    advice.timeout = roundedUp(std::max({advice.pauseBudget, advice.recovery, kShortestTimeout}));
    advice.heartbeat = std::min(advice.timeout, kMissedBeats * kBeatSeconds);
    advice.current = config ? config->collectiveTimeoutSeconds : 0;
    for (const TimedStep& time : *times)
        advice.overTimeout += time.seconds > advice.timeout;
    explain(advice);
    return advice;
}

} // namespace lockstep
