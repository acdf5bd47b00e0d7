// What a run must have for a fault to show in it.
#include "core/engine/fault.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string>

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
    case FaultNeed::Evaluation:
        return c.evalEvery > 0;
    case FaultNeed::UnevenEvaluation:
        return workload.evaluationSize() % c.world != 0;
    }
    return true;
}

// What the number of a parameter may be; its name means the same in every fault.
struct NumberRule {
    const char* name;
    bool whole;
    double least;
    double most;
    const char* allowed;
};
constexpr NumberRule kNumberRules[] = {
    {"rank", true, 0, 1023, "a rank of this run"}, // of this world too, see badNumber
    {"step", true, 1, 1e12, "a whole number, 1 to 1e12"},
    {"k", false, 1e-6, 1e6, "a number, 1e-6 to 1e6"},
    {"p", false, 1e-12, 1, "above 0, at most 1"},
    {"share", false, 0, 0.9999, "a number, 0 to 0.9999"},
    {"ms", true, 0, 86'400'000, "a whole number, 0 to 86400000"},
    {"every", true, 1, 1e12, "a whole number, 1 to 1e12"},
    {"place", true, 0, 2, "0, 1 or 2"},
    {"bytes", true, 0, 1e15, "a whole number, 0 to 1e15"},
};

// What is wrong with the value; nothing for a text that is no number, which FaultSet::create refuses.
std::optional<std::string> badNumber(const RunConfig& config, const std::string& id, const std::string& name,
                                     const std::string& text)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return {};
    if (!std::isfinite(value))
        return "it is not a finite number";
    for (const NumberRule& rule : kNumberRules) {
        if (name != rule.name)
            continue;
        const bool whole = rule.whole || (id == "D2" && name == "k"); // advances of the schedule
        if (value < rule.least || value > rule.most)
            return std::string("allowed: ") + rule.allowed;
        if (whole && value != std::floor(value))
            return "it is not a whole number";
        if (name == "k" && value == 1)
            return "a factor of 1 changes nothing";
        // A run that goes on may have fewer ranks than the one that was given the fault.
        if (name == "rank" && config.resume.empty() && value >= config.world)
            return "this run has the ranks 0 to " + std::to_string(config.world - 1);
    }
    return {};
}

Status checkParameters(const RunConfig& config, const Workload& workload, const FaultSpec& spec)
{
    for (const auto& [name, text] : spec.parameters) {
        std::optional<std::string> wrong;
        if (name != "param") {
            wrong = badNumber(config, spec.id, name, text);
        } else {
            wrong = "no parameter of the model begins so";
            for (const auto& p : workload.model()->named_parameters())
                if (p.key().starts_with(text))
                    wrong.reset();
        }
        if (wrong)
            return Error{ErrorKind::Usage, "Fault " + spec.id + " cannot take " + name + "=" + text, *wrong,
                         "Correct --fault"};
    }
    return {};
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
    case FaultNeed::Evaluation:
        return "--eval-every";
    case FaultNeed::UnevenEvaluation:
        return "an evaluation set that --world does not divide";
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
    for (const FaultSpec& spec : config.faults)
        if (const FaultEntry* entry = faultEntryOf(spec.id); entry)
            if (Status possible = checkParameters(config, workload, spec); !possible)
                return possible;
    return {};
}

} // namespace lockstep
