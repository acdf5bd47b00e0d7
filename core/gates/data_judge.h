// Phase 1: judges who sees which sample. Checks with number, limit and fix; causes by catalogue id (shared
// facts, family A, plus B4, E6, F7, F9) with epoch, step and rank.
#pragma once

#include "core/gates/epoch_review.h"
#include "core/store/project_store.h"

#include <functional>
#include <string>
#include <vector>

namespace lockstep {

// One row of the per-epoch table.
struct EpochRow {
    std::int64_t epoch = 0;
    std::int64_t rows = 0;
    std::int64_t seen = 0; // different samples
    std::int64_t overlap = 0;
    std::int64_t padding = 0;
    std::int64_t omitted = 0;
    std::int64_t firstStep = 1;
    std::int64_t steps = 0;
    bool sameOrder = false; // as the epoch before, although shuffled
};

struct DataVerdict {
    std::string verdict; // pass | fail | cannot_judge
    std::vector<GateCheck> checks;
    std::vector<DataFinding> findings; // faults first, then notes; each cause once, at its first step
    std::vector<EpochRow> epochs;
};

// Called after each epoch with epochs done and to do; false: stop.
using DataProgress = std::function<bool(std::int64_t done, std::int64_t total)>;

// Judges `source` against `plan` (the intention, planted faults ignored). Errors: what the source cannot
// load; Cancelled.
Result<DataVerdict> judgeData(DataSource& source, const DataPlan& plan, const DataProgress& progress = {});

// The gate as stored: phase "data", the plan as judged in configJson.
GateInfo dataGate(const DataVerdict& verdict, const DataPlan& plan);

} // namespace lockstep
