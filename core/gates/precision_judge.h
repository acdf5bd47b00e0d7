// Phase 3: judges the recorded runs of precision_plan.h and what was found in their checkpoint. Each check shows its
// number, its limit, and the first bad step, rank and parameter.
#pragma once

#include "core/gates/precision_checkpoint.h"
#include "core/gates/precision_plan.h"
#include "core/store/project_store.h"
#include "core/store/run_reader.h"

#include <string>
#include <vector>

namespace lockstep {

struct PrecisionRecord {
    PrecisionRun::Role role;
    RunConfig config;
    RunReader* reader = nullptr;
};

// A role that is missing makes the checks that need it "cannot_judge". Errors: what the readers report.
Result<GateInfo> judgePrecision(const PrecisionRequest& request, const std::vector<PrecisionRecord>& records,
                                const CheckpointFacts& checkpoint);

} // namespace lockstep
