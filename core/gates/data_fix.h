// The one-line fixes of phase 1 applied to the plan, so that "apply the fix" and "judge again" are one click.
#pragma once

#include "core/gates/data_plan.h"

#include <string>

namespace lockstep {

// The plan without the deviation that `cause` names: its planted fault removed, for A9 the batch that gives the single
// run's global batch, for A6 drop_last switched off. The result is judged by simulation (source "plan"), because a run or
// list that was recorded stays what it is. Errors: Usage if nothing in the plan can be changed for this cause.
Result<DataPlan> applyFix(const DataPlan& plan, const std::string& cause);

} // namespace lockstep
