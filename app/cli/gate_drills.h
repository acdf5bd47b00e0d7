// `gate DIR drills`: measures the timeout, breaks the training in every way there is, plays the escape hatch, and judges.
#pragma once

#include "app/cli/cli_context.h"
#include "core/config/run_config.h"
#include "core/store/project_store.h"

#include <functional>
#include <string>

namespace lockstep {

// Enters the runs in the project; the caller saves the gate. `progress` gets one sentence per drill, for people. Errors: a
// run could not begin, or the healthy one did not finish.
Result<GateInfo> runDrillsGate(CliContext& context, const std::string& folder, const RunConfig& base,
                               const std::function<void(const std::string&)>& progress);

} // namespace lockstep
