// Whether a cause of phase 1 has a fix that is a value of the configuration, so that the page can offer it.
#pragma once

#include "core/gates/data_plan.h"

#include <string>

namespace lockstep {

bool hasDataFix(const DataPlan& plan, const std::string& cause);

} // namespace lockstep
