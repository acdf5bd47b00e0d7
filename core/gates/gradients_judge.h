// Phase 2: judges the recorded runs of gradients_plan.h. Each check shows its number, its limit, and the first bad step,
// rank and parameter.
//
// Models with batch statistics (BatchNorm) are told from their records: a buffer that changes during training. There the
// ranks' own statistics make DDP another function than the single process, by design (catalogue C8), so the single run is
// no reference; the twin, one process with per-rank statistics, stands in for it and the checks say so.
#pragma once

#include "core/config/run_config.h"
#include "core/gates/gradients_plan.h"
#include "core/store/project_store.h"
#include "core/store/run_reader.h"

#include <vector>

namespace lockstep {

struct GradientsRecord {
    GradientsRun::Role role;
    RunConfig config;
    RunReader* reader = nullptr;
};

// `base` is the user's configuration, for the note on what was forced off. A role that is missing makes the checks that
// need it "cannot_judge". Errors: what the readers report.
Result<GateInfo> judgeGradients(const RunConfig& base, const std::vector<GradientsRecord>& records);

} // namespace lockstep
