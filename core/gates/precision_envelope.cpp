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
    const PrecisionRecord* a = record(roleA);
    const PrecisionRecord* b = record(roleB);
    if (!a || !b || !noEnvelope_.empty()) {
        cannotJudge(id, noEnvelope_.empty() ? "A run this check needs is missing." : noEnvelope_);
        return {};
    }
    const Result<std::int64_t> skippedA = lastSkipped(*a);
    if (!skippedA)
        return skippedA.error();
    const Result<std::int64_t> skippedB = lastSkipped(*b);
    if (!skippedB)
        return skippedB.error();
    const std::int64_t settled = std::max(*skippedA, *skippedB) + 1;
    CompareOptions options;
    options.tolerance.mode = CompareMode::Envelope;
    options.envelope = &envelope_;
    options.only = {Quantity::Loss, Quantity::GradNorm, Quantity::UpdateNorm};
    options.from = std::max(from, settled);
    const Result<Comparison> compared = compareRuns(*a->reader, a->config, *b->reader, b->config, options);
    if (!compared)
        return compared.error();
    if (compared->verdict == Verdict::CannotCompare) {
        cannotJudge(id, compared->reason);
        return {};
    }
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
