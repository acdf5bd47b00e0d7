#include "core/gates/gradients_judge.h"

#include "core/gates/gradients_checks.h"
#include "core/gates/gradients_facts.h"
#include "core/gates/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

namespace lockstep {

void GradientsChecks::forced()
{
    const std::vector<std::string> off = forcedOff(base_);
    const bool any = !off.empty();
    add("gradients.forced_off", true, any ? fmt::format("{}", fmt::join(off, ", ")) : "nothing to switch off",
        "off",
        any ? fmt::format("This phase ran without {}. Phase 3 turns it on again.", fmt::join(off, " and "))
            : std::string("Mixed precision and clipping are off, as this phase needs them."));
}

Status GradientsChecks::ranksEqual(Role role, const char* id)
{
    const GradientsRecord* run = record(role);
    if (!run) {
        cannotJudge(id, "A run this check needs is missing.");
        return {};
    }
    Result<RankAgreement> agree = agreement(*run->reader, Quantity::ParamFingerprint);
    if (!agree)
        return agree.error();
    if (agree->ranks < 2 || agree->steps == 0) {
        cannotJudge(id, "Fewer than two ranks recorded their parameters.");
        return {};
    }
    GateCheck& check =
        add(id, !agree->first,
            agree->first
                ? fmt::format("rank {} differs from step {}", agree->first->rank, agree->first->step)
                : fmt::format("{} of {} steps equal on {} ranks", agree->steps, agree->steps, agree->ranks),
            "every step, every rank", "After each step all ranks must hold the same parameters.");
    if (agree->first) {
        check.step = agree->first->step;
        check.rank = agree->first->rank;
        check.fix = agree->first->step == 0
                        ? "The ranks start from other weights: broadcast them, or load one checkpoint on all"
                        : "A gradient was not reduced: call the wrapped module, not .module, and leave "
                          "no_sync before the "
                          "last backward of a step";
    }
    return {};
}

Status GradientsChecks::collectiveCounts()
{
    const GradientsRecord* run = record(Role::Ddp);
    if (!run) {
        cannotJudge("gradients.collectives", "A run this check needs is missing.");
        return {};
    }
    Result<std::optional<CollectiveCount>> counted = collectives(*run->reader);
    if (!counted)
        return counted.error();
    if (!counted->has_value()) {
        cannotJudge("gradients.collectives", "The run recorded no collectives.");
        return {};
    }
    const CollectiveCount& count = **counted;
    const bool holds = count.steady > 0 && !count.irregular;
    GateCheck& check = add("gradients.collectives", holds, fmt::format("{} per step", count.steady),
                           "at least 1, the same on every rank and step",
                           "A step without its all-reduce trains every rank alone.");
    if (count.irregular) {
        check.step = count.irregular->step;
        check.rank = count.irregular->rank;
    }
    if (!holds)
        check.fix = "Call the wrapped module and leave no_sync before the last backward of a step";
    return {};
}

Status GradientsChecks::unused()
{
    const GradientsRecord* run = record(Role::Ddp);
    if (!run) {
        cannotJudge("gradients.unused", "A run this check needs is missing.");
        return {};
    }
    Result<std::optional<std::vector<std::string>>> unused = unusedParameters(*run->reader);
    if (!unused)
        return unused.error();
    if (!unused->has_value()) {
        cannotJudge("gradients.unused", "The run recorded no tensors.");
        return {};
    }
    const std::vector<std::string>& names = **unused;
    const bool flag = base_.findUnused;
    const bool holds = names.empty() || flag;
    GateCheck& check =
        add("gradients.unused", holds,
            counted(std::int64_t(names.size()), "parameter", "parameters") + " without gradient",
            flag ? "any, find_unused_parameters is on" : "0",
            names.empty() && flag
                ? "find_unused_parameters is on but no parameter is unused: switching it off saves a walk "
                  "over the graph in every step."
            : names.empty() ? std::string("Every parameter gets a gradient.")
                            : fmt::format("Without a gradient: {}.", fmt::join(names, ", ")));
    if (!holds) {
        check.parameter = names.front();
        check.fix = "Switch find_unused_parameters on, or take these parameters out of the model";
    }
    return {};
}

Result<GateInfo> GradientsChecks::judge()
{
    gate_.phase = "gradients";
    gate_.configJson = toJson(base_);
    if (const GradientsRecord* one = record(Role::Baseline)) {
        Result<bool> statistics = hasBatchStatistics(*one->reader);
        if (!statistics)
            return statistics.error();
        statistics_ = *statistics;
    }
    forced();
    for (const Status& done :
         {publishedRule(), worldOne(), insideEnvelope(), reduction(), twin(),
          ranksEqual(Role::Ddp, "gradients.ranks_equal"),
          ranksEqual(Role::Random, "gradients.ranks_equal_random"), collectiveCounts(), unused()})
        if (!done)
            return done.error();
    // An envelope of another function says nothing of this one.
    gate_.verdict = verdictOf(gate_.checks, [this](const GateCheck& check) {
        return statistics_ && (check.id == "gradients.loss" || check.id == "gradients.grad_norm" ||
                               check.id == "gradients.update_norm");
    });
    return gate_;
}

Result<GateInfo> judgeGradients(const RunConfig& base, const std::vector<GradientsRecord>& records)
{
    return GradientsChecks(base, records).judge();
}

} // namespace lockstep
