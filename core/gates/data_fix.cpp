#include "core/gates/data_fix.h"

#include <fmt/format.h>

namespace lockstep {

Result<DataPlan> applyFix(const DataPlan& plan, const std::string& cause)
{
    DataPlan fixed = plan;
    const bool planted =
        std::erase_if(fixed.faults, [&cause](const FaultSpec& f) { return f.id == cause; }) > 0;
    fixed.source = "plan";
    if (cause == "A9" && plan.referenceBatch > 0) {
        const std::int64_t parts = std::int64_t(plan.world) * plan.accumulate;
        if (plan.referenceBatch % parts != 0)
            return Error{ErrorKind::Usage, "The global batch cannot be fixed by the batch per rank",
                         fmt::format("{} is not a multiple of {} ranks x {} micro-batches",
                                     plan.referenceBatch, plan.world, plan.accumulate),
                         "Change the world or the accumulation"};
        fixed.batch = plan.referenceBatch / parts;
        return fixed;
    }
    if (cause == "A6" && plan.dropLast) {
        fixed.dropLast = false;
        return fixed;
    }
    // What a recorded run or a list showed is mended in the training script; the plan is already without it.
    if (planted || plan.source != "plan")
        return fixed;
    return Error{ErrorKind::Usage,
                 fmt::format("There is no fix for {} in the plan", cause.empty() ? "this check" : cause),
                 "it is nothing that the configuration decides", "Follow the sentence of the check"};
}

} // namespace lockstep
