// One run after another, for gates, drills and proofs that are made of several.
#pragma once

#include "core/base/status.h"
#include "core/config/run_config.h"
#include "core/store/run_info.h"

#include <string>

namespace lockstep {

class StopSignals;
struct RunOptions;

// Runs to the end; needs a QCoreApplication in this thread. Errors: the run could not begin; Cancelled where it was
// stopped or a stop signal came, which stops it. A run that failed is a value: see RunInfo::state.
Result<RunInfo> runOnce(const std::string& projectFolder, const RunConfig& config,
                        const std::string& workerPath, StopSignals& signals);
// The same with everything else that can be said about a run.
Result<RunInfo> runOnce(const RunOptions& options, StopSignals& signals);

} // namespace lockstep
