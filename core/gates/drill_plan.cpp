#include "core/gates/drill_plan.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <random>

namespace lockstep {

namespace {

constexpr std::array kDrills = {
    DrillInfo{DrillKind::LoaderFails, "throw", "The data loader of one rank fails"},
    DrillInfo{DrillKind::Killed, "kill", "One rank is killed"},
    DrillInfo{DrillKind::HangsInData, "hang-data", "One rank hangs while it loads data", true},
    DrillInfo{DrillKind::HangsInForward, "hang-forward", "One rank hangs in its forward pass", true},
    DrillInfo{DrillKind::HangsInCollective, "hang-collective", "One rank hangs in a collective", true},
    DrillInfo{DrillKind::Slow, "slow", "One rank is slow, which is no fault"},
    DrillInfo{DrillKind::DiskFull, "disk", "The disk fills up during a save"},
    DrillInfo{DrillKind::ConnectionLost, "connection", "The host loses the connections of its ranks"},
};

constexpr std::int64_t kBaselineSteps = 300;
constexpr std::int64_t kSlowSteps = 400;
constexpr std::int64_t kEndless = 1'000'000'000;
constexpr double kSlowShare = 0.5; // of the timeout: a pause that a healthy run may take
constexpr double kStragglerShare = 0.05;
constexpr std::int64_t kStragglerEvery = 100;

RunConfig common(const DrillSetup& setup)
{
    RunConfig config = setup.base;
    config.mode = "ddp";
    config.epochs = 0;
    config.alignWorld = 1;
    config.resume.clear();
    config.faults.clear();
    config.checkpointEvery = setup.checkpointEvery;
    config.collectiveTimeoutSeconds = setup.timeout;
    if (config.record == "off")
        config.record = "step";
    return config;
}

FaultSpec fault(const Drill& drill, const char* id, std::map<std::string, std::string> more = {})
{
    more["rank"] = std::to_string(drill.rank);
    more["step"] = std::to_string(drill.step);
    return {id, std::move(more)};
}

std::string milliseconds(double seconds)
{
    return std::to_string(std::int64_t(std::lround(seconds * 1000)));
}

// Smaller pauses of another rank all along, as a busy machine makes them.
FaultSpec stragglers(const Drill& drill, const DrillSetup& setup)
{
    return {"drill-slow",
            {{"rank", std::to_string((drill.rank + 1) % setup.base.world)},
             {"step", std::to_string(kStragglerEvery / 2)},
             {"every", std::to_string(kStragglerEvery)},
             {"ms", milliseconds(setup.timeout * kStragglerShare)}}};
}

} // namespace

std::span<const DrillInfo> allDrills()
{
    return kDrills;
}

const DrillInfo& drillInfo(DrillKind kind)
{
    return kDrills[std::size_t(kind)];
}

Result<DrillKind> drillByWord(std::string_view word)
{
    std::string words;
    for (const DrillInfo& info : kDrills) {
        if (info.word == word)
            return info.kind;
        words += (words.empty() ? "" : ", ") + std::string(info.word);
    }
    return Error{ErrorKind::Usage, fmt::format("There is no drill called {}", word),
                 fmt::format("known are {}", words), "Choose one of these"};
}

RunConfig drillBaseline(const DrillSetup& setup)
{
    RunConfig config = common(setup);
    config.name = fmt::format("drill-baseline-w{}", config.world);
    config.steps = kBaselineSteps;
    return config;
}

Drill planDrill(DrillKind kind, const DrillSetup& setup, int rank, std::int64_t step, std::uint64_t random)
{
    std::mt19937_64 draw(random);
    Drill drill;
    drill.kind = kind;
    drill.timeout = setup.timeout;
    const auto world = std::uint64_t(setup.base.world);
    const std::uint64_t rankDrawn = draw() % world;
    drill.rank = rank >= 0 ? rank : int(rankDrawn);
    // After the second checkpoint, so that there is one that must survive; anywhere in the next four intervals.
    const std::int64_t every = setup.checkpointEvery;
    drill.step = step > 0 ? step : 2 * every + 1 + std::int64_t(draw() % std::uint64_t(4 * every));
    drill.config = common(setup);
    drill.config.name = fmt::format("drill-{}", drillInfo(kind).word);
    drill.config.steps = kEndless; // the drill ends it
    switch (kind) {
    case DrillKind::LoaderFails:
        drill.config.faults = {fault(drill, "drill-throw")};
        break;
    case DrillKind::HangsInData:
        drill.config.faults = {fault(drill, "drill-hang", {{"place", "0"}})};
        break;
    case DrillKind::HangsInForward:
        drill.config.faults = {fault(drill, "drill-hang", {{"place", "1"}})};
        break;
    case DrillKind::HangsInCollective:
        drill.config.faults = {fault(drill, "drill-hang", {{"place", "2"}})};
        break;
    case DrillKind::Slow:
        drill.config.steps =
            std::max(setup.base.steps > 0 ? setup.base.steps : kSlowSteps, drill.step + every);
        drill.config.faults = {fault(drill, "drill-slow", {{"ms", milliseconds(setup.timeout * kSlowShare)}}),
                               stragglers(drill, setup)};
        break;
    case DrillKind::DiskFull:
        drill.rank = 0; // the rank that saves
        drill.config.faults = {fault(drill, "drill-disk", {{"bytes", "8192"}})};
        break;
    case DrillKind::Killed:
    case DrillKind::ConnectionLost:
        break; // from outside
    }
    return drill;
}

} // namespace lockstep
