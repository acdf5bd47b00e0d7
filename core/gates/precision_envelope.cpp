// How far honest rounding carries a run with mixed precision and clipping, and whether DDP stays inside.
#include "core/gates/gradients_facts.h"
#include "core/gates/precision_checks.h"

#include <fmt/format.h>

namespace lockstep {

Status PrecisionChecks::measure()
{
    std::vector<RunReader*> repeats;
    for (const PrecisionRecord& r : records_)
        if (r.role == Role::Single || r.role == Role::Repeat)
            repeats.push_back(r.reader);
    if (record(Role::Ddp)) {
        const Result<bool> statistics = hasBatchStatistics(*record(Role::Ddp)->reader);
        if (!statistics)
            return statistics.error();
        statistics_ = *statistics;
    }
    if (statistics_) {
        noEnvelope_ =
            "The model has batch statistics, which every rank forms from its own samples: the single "
            "process is another function by design. Phase 2 held DDP against its twin.";
        return {};
    }
    Result<Envelope> measured = measureEnvelope(repeats);
    if (measured)
        envelope_ = std::move(measured).value();
    else
        noEnvelope_ = measured.error().sentence();
    return {};
}

Status PrecisionChecks::envelope(Role roleA, Role roleB, std::int64_t from, const char* id,
                                 const std::string& sentence)
{
    if (!noEnvelope_.empty()) {
        cannotJudge(id, noEnvelope_);
        return {};
    }
    std::int64_t settled = 0;
    for (const Role role : {roleA, roleB}) {
        const PrecisionRecord* run = record(role);
        const Result<std::int64_t> skipped = run ? lastSkipped(*run) : Result<std::int64_t>(std::int64_t(-1));
        if (!skipped)
            return skipped.error();
        settled = std::max(settled, *skipped + 1);
    }
    CompareOptions options;
    options.tolerance.mode = CompareMode::Envelope;
    options.envelope = &envelope_;
    options.only = {Quantity::Loss, Quantity::GradNorm, Quantity::UpdateNorm};
    options.from = std::max(from, settled);
    const Result<std::optional<Comparison>> held = hold(roleA, roleB, id, options);
    if (!held)
        return held.error();
    const std::optional<Comparison>& compared = *held;
    if (!compared)
        return {};
    const FirstDifference* first = compared->origin();
    GateCheck& check =
        add(id, !first,
            first ? fmt::format("{}: {:.9g} / {:.9g} at step {}", titleOf(first->quantity),
                                doubleOf(first->a), doubleOf(first->b), first->step)
                  : fmt::format("steps {} to {} inside", compared->firstStep, compared->lastStep),
            first ? fmt::format("{:.3g}, measured from {} repeats", first->limit, envelope_.repeats)
                  : fmt::format("the envelope of {} repeats", envelope_.repeats),
            settled > from
                ? fmt::format("{} From step {} on: before it the scaler was still skipping steps, which a "
                              "rank's own gradients make it do at other times than their mean.",
                              sentence, settled)
                : sentence);
    if (first) {
        place(check, *first);
        check.fix =
            "Open Curves at this step: the first broken link of the causal strip is the place to look";
    }
    return {};
}

// A step that the scaler skipped has an infinite gradient, which is near to nothing. -1: it skipped none.
Result<std::int64_t> PrecisionChecks::lastSkipped(const PrecisionRecord& run)
{
    if (run.config.amp != "fp16")
        return std::int64_t(-1);
    const Result<SeriesData> skipped = run.reader->read({0, Quantity::StepSkipped, 0});
    if (!skipped)
        return skipped.error();
    for (std::size_t i = skipped->size(); i-- > 0;)
        if (skipped->bits[i] != 0)
            return skipped->steps[i];
    return std::int64_t(-1);
}

} // namespace lockstep
