// Whether a run that goes on from a checkpoint repeats the one that was not interrupted.
#include "core/gates/precision_checks.h"

#include <fmt/format.h>

namespace lockstep {

Status PrecisionChecks::exact(Role roleA, Role roleB, std::int64_t from, std::int64_t to, const char* id,
                              const std::string& sentence, std::vector<Quantity> only)
{
    CompareOptions options;
    options.tolerance.mode = CompareMode::Exact;
    options.from = from;
    options.to = to;
    options.only = std::move(only);
    const Result<std::optional<Comparison>> held = hold(roleA, roleB, id, options);
    if (!held)
        return held.error();
    const std::optional<Comparison>& compared = *held;
    if (!compared)
        return {};
    std::int64_t points = 0;
    for (const QuantityResult& result : compared->quantities)
        points += result.points;
    const FirstDifference* first = compared->origin();
    GateCheck& check = add(id, !first,
                           first ? fmt::format("{} differs at step {}", titleOf(first->quantity), first->step)
                                 : fmt::format("0 bits differ, steps {} to {}, {} values",
                                               compared->firstStep, compared->lastStep, grouped(points)),
                           "0 bits", sentence);
    if (first) {
        place(check, *first);
        check.fix = fmt::format("The earliest difference is in {}: that part is not saved or not loaded",
                                causalLinkName(quantityInfo(first->quantity)->link));
    }
    return {};
}

// A resumed optimizer that counts from 1 again corrects its moments as if they were fresh.
Status PrecisionChecks::counters()
{
    const PrecisionRecord* resumed = record(Role::Resumed);
    if (!resumed) {
        cannotJudge("precision.optimizer_step", "The resumed run is missing.");
        return {};
    }
    const Result<SeriesData> counter = resumed->reader->read({0, Quantity::OptimizerStep, 0});
    if (!counter)
        return counter.error();
    const std::int64_t half = halfOf(request_);
    for (std::size_t i = 0; i < counter->size(); ++i) {
        if (counter->steps[i] != half + 1)
            continue;
        const auto value = std::int64_t(counter->bits[i]);
        GateCheck& check =
            add("precision.optimizer_step", value > 1, fmt::format("{} at step {}", value, half + 1),
                "above 1", "The optimizer's step counter goes on where it was saved.");
        check.step = half + 1;
        if (value <= 1)
            check.fix = "Save and load optimizer.state_dict() together with the model";
        return {};
    }
    cannotJudge("precision.optimizer_step", "The resumed run recorded no optimizer step.");
    return {};
}

} // namespace lockstep
