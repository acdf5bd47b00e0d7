// Phase 3: the runs whose records decide whether mixed precision, clipping and checkpoints are safe. Half-way through, the
// runs save; others go on from there.
#pragma once

#include "core/config/run_config.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct PrecisionRequest {
    RunConfig base; // what the user trains; mode and world are set here
    int world = 2;
    std::int64_t steps = 40; // saved at half of them
};

struct PrecisionRun {
    enum class Role {
        Single,      // one process on the global batches; saves half-way
        Repeat,      // the same with another order of summation: measures the envelope
        Ddp,         // all ranks; saves half-way
        Resumed,     // all ranks, goes on from Ddp's half
        DdpToSingle, // one process, goes on from Ddp's half
        SingleToDdp, // all ranks, go on from Single's half
    };
    Role role;
    RunConfig config;
    std::optional<Role>
        resumesFrom; // config.resume is to be filled with that run's checkpoint of step half()
};

std::int64_t halfOf(const PrecisionRequest& request);
// In the order in which they should run.
std::vector<PrecisionRun> precisionPlan(const PrecisionRequest& request);

// What the plan switched on because `base` had it off, for people; empty: nothing.
std::vector<std::string> switchedOn(const RunConfig& base);

} // namespace lockstep
