// Phase 3: judges the recorded runs of precision_plan.h and what was found in their checkpoint. Each check shows its
// number, its limit, and the first bad step, rank and parameter.
#pragma once

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

// The checkpoint that the ranks saved half-way, opened once by our own reader and once by Python's torch.
struct CheckpointFacts {
    std::string path;
    std::string fault; // why our own reader does not accept it; empty: every byte was checked
    std::int64_t keys = 0;
    std::vector<std::string> prefixed; // keys that DDP left its "module." on
    std::vector<std::string> present;  // "model float32", "optimizer", "scheduler", ...
    std::vector<std::string> missing;  // parts a resume needs and does not find
    bool pythonAsked = false;          // false: there is no Python with torch here
    std::string python;                // what it said
    bool pythonLoads = false;
    std::int64_t pythonTensors = 0;
};

// A role that is missing makes the checks that need it "cannot_judge". Errors: what the readers report.
Result<GateInfo> judgePrecision(const PrecisionRequest& request, const std::vector<PrecisionRecord>& records,
                                const CheckpointFacts& checkpoint);

} // namespace lockstep
