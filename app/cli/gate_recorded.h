// The gates after phase 1 for a project whose runs are a script of one's own: gradients is judged from what the probe
// recorded, precision and drills say that they are for the engine's workloads. Nothing is started.
#pragma once

#include "app/cli/gate_request.h"
#include "core/store/project_store.h"

#include <optional>
#include <string>

namespace lockstep {

struct RecordedPair {
    std::optional<RunInfo> single;
    std::optional<RunInfo> ddp; // DDP or FSDP
};

// The newest runs, or those that are named, if a script trained them; nullopt: the engine did, a configuration of it is on
// the command line, or nothing was trained yet.
Result<std::optional<RecordedPair>> scriptRuns(ProjectStore& project, const GateRequest& request);

// Phase 2. Errors: there is no run of several ranks, or a store cannot be read.
Result<GateInfo> judgeRecordedPhase(ProjectStore& project, const RecordedPair& pair);

// precision and drills: "cannot_judge" with the reason and what can be done by hand. It can be overridden as usual.
GateInfo engineOnlyGate(const std::string& phase, const RecordedPair& pair);

} // namespace lockstep
