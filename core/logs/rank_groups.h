// Which of the runs of a log are the ranks of one training. Tools know no ranks: each rank writes a run of its own.
#pragma once

#include "core/logs/log_data.h"

#include <vector>

namespace lockstep {

struct LogGroup {
    LogRun
        about; // of its first run; of several `run` without what tells the ranks apart, `name` what they share
    std::vector<const LogSeries*> series; // no rank has a tag twice
    std::vector<std::int64_t> hiddenNanSteps;
};

// Every run in exactly one group. Runs are joined where each has one known rank, the ranks differ, and their folders differ only
// by "rank_N", their groups are the same, or their names differ only by the rank at the end. `data` must outlive the groups.
std::vector<LogGroup> rankGroups(const LogData& data);

} // namespace lockstep
