// Writes what a log of another tool holds into a project, as a run.
#pragma once

#include "core/config/imported_series.h"
#include "core/logs/rank_groups.h"
#include "core/store/project_store.h"

#include <string>
#include <vector>

namespace lockstep {

struct StoredImport {
    RunInfo info;
    ImportedRun table;
    std::vector<int> ranks;   // as stored
    std::int64_t points = 0;  // without those a restart replaced
    std::int64_t outside = 0; // points left out: their steps are negative or beyond what a step axis can hold
};

// Makes one finished run. A training of which only one rank is there becomes a run of one rank, number 0. A tag that everybody
// means the same by becomes that quantity (core/logs/known_tags.h), all others Quantity::Metric. A step that comes twice keeps
// its last value; the earlier ones, and those that a restart replaced, stand in segments of their own that a later one supersedes.
// A run that cannot be written to its end is left as failed. `source`: absolute path of what was imported.
Result<StoredImport> storeImport(ProjectStore& project, const LogGroup& group, const std::string& name,
                                 const std::string& source);

} // namespace lockstep
