// `gate DIR precision`: runs the plan of phase 3, opens the checkpoint the ranks saved, goes on from it, and judges.
#pragma once

#include "app/cli/cli_context.h"
#include "core/gates/precision_plan.h"
#include "core/store/project_store.h"

#include <functional>
#include <string>

namespace lockstep {

// Enters the runs in the project; the caller saves the gate. `progress` gets one sentence per run, for people. Errors: a run
// could not begin or did not finish, a store could not be read.
Result<GateInfo> runPrecisionGate(CliContext& context, const std::string& folder,
                                  const PrecisionRequest& request,
                                  const std::function<void(const std::string&)>& progress);

} // namespace lockstep
