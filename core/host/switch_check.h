// Which numbers of ranks a run can go on with.
#pragma once

#include "core/base/status.h"
#include "core/config/run_config.h"

namespace lockstep {

// `begun` is the configuration the run was begun with; its global batch has to stay the same. Errors: Usage.
Status checkSwitch(const RunConfig& begun, int world);

} // namespace lockstep
