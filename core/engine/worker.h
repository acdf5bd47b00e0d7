// One rank from start to exit code. The door between app/worker and the engine: no torch types here.
#pragma once

#include "core/config/run_config.h"
#include "core/engine/rank_environment.h"

#include <string>
#include <vector>

namespace lockstep {

struct WorkerJob {
    RunConfig config;
    std::string streamFile; // where the frames go if no host is connected; empty: nowhere
    std::string runFolder;  // for checkpoints and dumps; empty: none
    std::string timesFile;  // for measurements: the monotonic ns after every step, as int64; empty: none
};

// Trains the jobs one after the other; several share one process and one process group. Ends all threads of
// ours before it returns. Exit codes: 0 finished, 143 stopped by SIGTERM, 3 configuration or environment
// unusable, 1 failed in training.
int runWorker(const std::vector<WorkerJob>& jobs, const RankEnvironment& environment);

// What every rank would refuse of this configuration before its first step: values, workload and its options, faults.
Status checkRun(const RunConfig& config);

// What a rank of this configuration would report of itself: the JSON of the Hello frame, without training.
std::string environmentReport(const RunConfig& config);

} // namespace lockstep
