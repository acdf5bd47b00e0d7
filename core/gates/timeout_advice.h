// How long a rank should wait for the others before it gives up, from what a recorded run measured. The working is part
// of the answer: every term can be shown and checked.
//
//   longest pause  = the largest of: any steady step, the first step, a step that waited for a checkpoint
//   pause budget   = kSafety x longest pause + world x start-up skew of one rank
//   recovery       = restart (launch to first step) + the steps since the last checkpoint, at worst
//   timeout        = the larger of both, rounded up to a round number
//
// A timeout below the pause budget would end healthy runs; one below the recovery time would save less than a restart
// costs. Steady steps leave out the first step of each segment and the steps after a checkpoint.
#pragma once

#include "core/base/status.h"
#include "core/config/run_config.h"
#include "core/store/run_reader.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

inline constexpr double kPauseSafety = 5;
inline constexpr double kBeatSeconds = 0.5; // how often a rank sends a sign of life
inline constexpr int kMissedBeats = 4;      // before a rank counts as silent

// The distribution of wall times of steps, in seconds, over all ranks.
struct StepTimes {
    std::int64_t count = 0;
    double p50 = 0;
    double p99 = 0;
    double max = 0;
    std::int64_t maxStep = -1;
    int maxRank = -1;
};

struct AdviceTerm {
    std::string label; // "safety factor"
    std::string value; // "x 5"
};

struct TimeoutAdvice {
    int world = 1;
    StepTimes steady;
    double firstStep = 0;
    double checkpointPause = 0; // 0: no checkpoint was written while others waited
    std::int64_t checkpoints = 0;
    double longestPause = 0;
    std::string longestPauseKind; // "a steady step", "the first step", "a checkpoint"
    std::int64_t longestPauseStep = -1;
    double skewPerRank = 0; // between the first and the last rank that joined, divided by world
    double pauseBudget = 0;
    double restart = 0; // launch to the first step of the slowest rank; 0: not recorded
    double lostSteps = 0;
    std::int64_t lostStepCount = 0;
    double recovery = 0;
    double timeout = 0;            // recommended collective timeout
    double heartbeat = 0;          // recommended time without a sign of life
    double current = 0;            // what the run had
    std::int64_t overTimeout = 0;  // recorded steps that took longer than the recommendation
    std::vector<AdviceTerm> terms; // the working, in the order in which it is read
    std::string sentence;          // what a hang costs, and how far the longest step stays below
};

// 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten, not below `seconds`.
double roundedUp(double seconds);

// Errors: the run recorded no step times (--record off, or it never reached a step).
Result<TimeoutAdvice> adviseTimeout(RunReader& run);

} // namespace lockstep
