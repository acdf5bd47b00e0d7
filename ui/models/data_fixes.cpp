#include "ui/models/data_fixes.h"

#include "core/gates/data_fix.h"

namespace lockstep {

bool hasDataFix(const DataPlan& plan, const std::string& cause)
{
    return applyFix(plan, cause).ok();
}

} // namespace lockstep
