// Phase 2: the runs whose records decide whether the DDP wrap changed the mathematics. All share the global batches, the
// optimizer and the seed; AMP and clipping are forced off.
#pragma once

#include "core/config/run_config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

struct GradientsRequest {
    RunConfig base; // what the user trains; mode and world are set here
    int world = 4;
    std::int64_t steps = 40; // at least the 10 batches of the published rule
};

struct GradientsRun {
    enum class Role {
        Baseline, // single process on the global batches, random layers off
        Repeat,   // the same with another order of summation: measures the envelope
        DdpOne,   // DDP, one rank, the same global batches
        Ddp,      // DDP, all ranks, random layers off: what is held against the baseline
        Random,   // DDP, all ranks, as the user trains it
        Twin,     // one process that replays Random
    };
    Role role;
    RunConfig config;
};

// In the order in which they should run: cheap and deciding ones first.
std::vector<GradientsRun> gradientsPlan(const GradientsRequest& request);

// What the plan switched off in `base`, for people; empty: nothing.
std::vector<std::string> forcedOff(const RunConfig& base);

} // namespace lockstep
