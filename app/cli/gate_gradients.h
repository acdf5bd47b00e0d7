// `gate DIR gradients`: runs the plan of phase 2 one run after another, then judges what they recorded.
#pragma once

#include "app/cli/cli_context.h"
#include "core/gates/gradients_plan.h"
#include "core/store/project_store.h"

#include <string>

namespace lockstep {

// Enters the runs in the project; the caller saves the gate. `progress` gets one sentence per run, for people. Errors: a run
// could not begin or did not finish, a store could not be read.
Result<GateInfo> runGradientsGate(CliContext& context, const std::string& folder,
                                  const GradientsRequest& request,
                                  const std::function<void(const std::string&)>& progress);

} // namespace lockstep
