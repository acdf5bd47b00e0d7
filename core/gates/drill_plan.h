// Phase 4: what can be broken on purpose, and the configuration of the run in which it breaks. Everything here runs on
// real processes; what a rank does to itself is a fault of the engine, what is done to it the host does.
#pragma once

#include "core/base/status.h"
#include "core/config/run_config.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

enum class DrillKind {
    LoaderFails,
    Killed,
    HangsInData,
    HangsInForward,
    HangsInCollective,
    Slow, // a healthy run must not be ended by its slowest step
    DiskFull,
    ConnectionLost,
};

struct DrillInfo {
    DrillKind kind;
    std::string_view word;  // on the command line and in JSON: "kill"
    std::string_view title; // for people, English: "One rank is killed"
    bool hangs = false;     // noticed by the collective timeout
};
std::span<const DrillInfo> allDrills();
const DrillInfo& drillInfo(DrillKind kind);
// Errors: Usage, with the words there are.
Result<DrillKind> drillByWord(std::string_view word);

// Limits in seconds (issue of phase 4): peers of a rank that dies end within 2 s, of one that hangs within the collective
// timeout and one second.
inline constexpr double kDeathLimit = 2;
inline constexpr double kHangMargin = 1;

struct Drill {
    DrillKind kind = DrillKind::Killed;
    int rank = 0;
    std::int64_t step = 1;
    double timeout = 60; // collective timeout of the run

    double limit() const { return drillInfo(kind).hangs ? timeout + kHangMargin : kDeathLimit; }
    RunConfig config; // of the run in which it breaks
};

struct DrillSetup {
    RunConfig base; // what is trained; ddp, 2 ranks or more
    double timeout = 60;
    std::int64_t checkpointEvery = 20; // something has to be there to fall back on
};

// The healthy run that the timeout advice is measured on.
RunConfig drillBaseline(const DrillSetup& setup);
// `rank` below 0 and `step` below 1 are drawn from `random`; the same numbers give the same drill.
Drill planDrill(DrillKind kind, const DrillSetup& setup, int rank, std::int64_t step, std::uint64_t random);

} // namespace lockstep
