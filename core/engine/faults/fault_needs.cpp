// What a run must have for a fault to show in it.
#include "core/engine/fault.h"

namespace lockstep {

namespace {

bool provides(const RunConfig& c, const Workload& workload, FaultNeed need)
{
    switch (need) {
    case FaultNeed::Accumulation:
        return c.accumulate > 1;
    case FaultNeed::Clipping:
        return c.clipNorm > 0;
    case FaultNeed::Decay:
        return c.weightDecay > 0;
    case FaultNeed::Schedule:
        return c.scheduler != "none";
    case FaultNeed::Tokens:
        return workload.batch({0}).tokens > 0;
    case FaultNeed::Buffers:
        return !workload.model()->buffers().empty();
    case FaultNeed::FindUnused:
        return c.findUnused;
    case FaultNeed::Scaler:
        return c.amp == "fp16";
    case FaultNeed::Resume:
        return !c.resume.empty();
    case FaultNeed::Log:
        return c.logEvery > 0;
    case FaultNeed::Freeze:
        return !c.freeze.empty();
    case FaultNeed::Several:
        return c.world > 1;
    }
    return true;
}

} // namespace

std::string faultNeedText(FaultNeed need)
{
    switch (need) {
    case FaultNeed::Accumulation:
        return "--accumulate 2 or more";
    case FaultNeed::Clipping:
        return "--clip-norm";
    case FaultNeed::Decay:
        return "--weight-decay";
    case FaultNeed::Schedule:
        return "--scheduler";
    case FaultNeed::Tokens:
        return "a workload that weighs by tokens (char-gpt)";
    case FaultNeed::Buffers:
        return "a workload with buffers (digits-cnn)";
    case FaultNeed::FindUnused:
        return "--find-unused";
    case FaultNeed::Scaler:
        return "--amp fp16";
    case FaultNeed::Resume:
        return "--resume";
    case FaultNeed::Log:
        return "--log-every";
    case FaultNeed::Freeze:
        return "--freeze";
    case FaultNeed::Several:
        return "--world 2 or more";
    }
    return {};
}

Status checkFaultNeeds(const RunConfig& config, const Workload& workload)
{
    for (const FaultSpec& spec : config.faults)
        if (const FaultEntry* entry = faultEntryOf(spec.id))
            for (const FaultNeed need : entry->info.needs)
                // A factor that is given does not come from the number of micro-batches.
                if (!provides(config, workload, need) &&
                    !(need == FaultNeed::Accumulation && spec.parameters.contains("k")))
                    return Error{ErrorKind::Usage, "Fault " + spec.id + " would change nothing in this run",
                                 "it needs " + faultNeedText(need), "Add it, or leave the fault out"};
    return {};
}

} // namespace lockstep
