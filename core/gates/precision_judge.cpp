#include "core/gates/precision_judge.h"

#include "core/align/compare.h"
#include "core/gates/gradients_facts.h"
#include "core/gates/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace lockstep {

namespace {

using Role = PrecisionRun::Role;

// torch's clip_grad_norm_ divides by norm + 1e-6 in float32: what is left can exceed the limit by rounding.
constexpr double kClipRounding = 1e-5;

std::string titleOf(Quantity quantity)
{
    const QuantityInfo* info = quantityInfo(quantity);
    return info ? std::string(info->title) : std::string("an unknown quantity");
}

// What a resumed run has to repeat: all that is compared but the collectives, which are counted anew (the Reducer joins its
// buckets in the second step of every process).
std::vector<Quantity> ofTraining()
{
    std::vector<Quantity> quantities;
    for (const QuantityInfo& info : allQuantities()) {
        const bool collective = info.id == Quantity::CollectiveCount ||
                                info.id == Quantity::CollectiveBytes || info.id == Quantity::CollectiveDtype;
        if (info.link != CausalLink::None && !collective)
            quantities.push_back(info.id);
    }
    return quantities;
}

class Judge
{
public:
    Judge(const PrecisionRequest& request, const std::vector<PrecisionRecord>& records,
          const CheckpointFacts& checkpoint)
        : request_(request), records_(records), checkpoint_(checkpoint)
    {
    }
    Result<GateInfo> judge();

private:
    const PrecisionRecord* record(Role role) const
    {
        const auto it = std::find_if(records_.begin(), records_.end(),
                                     [role](const PrecisionRecord& r) { return r.role == role; });
        return it == records_.end() ? nullptr : &*it;
    }
    GateCheck& add(const char* id, bool holds, std::string value, std::string limit, std::string sentence);
    void cannotJudge(const char* id, std::string why)
    {
        add(id, false, "not judged", "", std::move(why)).verdict = "cannot_judge";
    }
    void place(GateCheck& check, const FirstDifference& first);

    void switches();
    Status measure();
    Status envelope(Role a, Role b, std::int64_t from, const char* id, const std::string& sentence);
    static Result<std::int64_t> lastSkipped(const PrecisionRecord& run);
    Status scaler();
    Status clipping();
    Status exact(Role a, Role b, std::int64_t from, std::int64_t to, const char* id,
                 const std::string& sentence, std::vector<Quantity> only = {});
    Status counters();

    const PrecisionRequest& request_;
    const std::vector<PrecisionRecord>& records_;
    const CheckpointFacts& checkpoint_;
    Envelope envelope_;
    std::string noEnvelope_;
    bool statistics_ = false;
    GateInfo gate_;
};

GateCheck& Judge::add(const char* id, bool holds, std::string value, std::string limit, std::string sentence)
{
    GateCheck check;
    check.id = id;
    check.verdict = holds ? "pass" : "fail";
    check.value = std::move(value);
    check.limit = std::move(limit);
    check.sentence = std::move(sentence);
    gate_.checks.push_back(std::move(check));
    return gate_.checks.back();
}

void Judge::place(GateCheck& check, const FirstDifference& first)
{
    check.step = first.step;
    check.rank = first.rank;
    check.parameter = first.parameter;
}

void Judge::switches()
{
    const PrecisionRecord* ddp = record(Role::Ddp);
    const std::vector<std::string> on = switchedOn(request_.base);
    if (!ddp)
        return cannotJudge("precision.switched_on", "The run of all ranks is missing.");
    const std::string clip = ddp->config.clipNorm > 0 ? fmt::format("norm {:g}", ddp->config.clipNorm)
                                                      : fmt::format("value {:g}", ddp->config.clipValue);
    if (ddp->config.amp == "off") {
        cannotJudge("precision.switched_on", "Mixed precision is off: this engine cannot do it with this "
                                             "configuration. The other checks hold for full precision only.");
        return;
    }
    add("precision.switched_on", true, fmt::format("{}, clipping by {}", ddp->config.amp, clip), "on",
        on.empty() ? std::string("The runs train with mixed precision and clipping as configured.")
                   : fmt::format("This phase switched on {}.", fmt::join(on, " and ")));
}

Status Judge::measure()
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

Status Judge::envelope(Role roleA, Role roleB, std::int64_t from, const char* id, const std::string& sentence)
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
Result<std::int64_t> Judge::lastSkipped(const PrecisionRecord& run)
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

// A rank that skips a step the others do ends up with other weights.
Status Judge::scaler()
{
    const PrecisionRecord* ddp = record(Role::Ddp);
    if (!ddp) {
        cannotJudge("precision.scaler", "The run of all ranks is missing.");
        return {};
    }
    if (ddp->config.amp != "fp16") {
        add("precision.scaler", true, "no scaler", "none with " + ddp->config.amp,
            "Only fp16 scales its loss; its range is what the scaler is for.");
        return {};
    }
    for (const Quantity quantity : {Quantity::ScalerScale, Quantity::StepSkipped}) {
        const Result<RankAgreement> agree = agreement(*ddp->reader, quantity);
        if (!agree)
            return agree.error();
        const char* id = quantity == Quantity::ScalerScale ? "precision.scaler" : "precision.skipped";
        if (agree->steps == 0) {
            cannotJudge(id, fmt::format("The run recorded no {}.", titleOf(quantity)));
            continue;
        }
        GateCheck& check = add(
            id, !agree->first,
            agree->first ? fmt::format("rank {} differs from rank 0 at step {}", agree->first->rank,
                                       agree->first->step)
                         : fmt::format("equal in {} steps on {} ranks", agree->steps, agree->ranks),
            "equal", fmt::format("The {} has to be the same on all ranks at every step.", titleOf(quantity)));
        if (agree->first) {
            check.rank = agree->first->rank;
            check.step = agree->first->step;
            check.fix = "Unscale after the reduction: then an overflow of one rank is seen by all";
        }
    }
    return {};
}

// The norm that clipping works with has to be that of the reduced gradient, on every rank the same; clipping local
// gradients and then averaging them is another optimizer (catalogue D3 to D5).
Status Judge::clipping()
{
    const PrecisionRecord* ddp = record(Role::Ddp);
    if (!ddp || ddp->config.clipNorm <= 0) {
        cannotJudge("precision.clipping", "The run of all ranks did not clip by norm.");
        return {};
    }
    const Result<RankAgreement> agree = agreement(*ddp->reader, Quantity::ClipNormTorch);
    if (!agree)
        return agree.error();
    const Result<SeriesData> reduced = ddp->reader->read({0, Quantity::GradNorm, 0});
    if (!reduced)
        return reduced.error();
    const Result<SeriesData> clipped = ddp->reader->read({0, Quantity::GradNormClipped, 0});
    if (!clipped)
        return clipped.error();
    double over = 0;
    std::int64_t overStep = -1, acted = 0;
    std::size_t j = 0;
    for (std::size_t i = 0; i < clipped->size(); ++i) {
        while (j < reduced->size() && reduced->steps[j] < clipped->steps[i])
            ++j;
        if (j == reduced->size() || !std::isfinite(clipped->value(i)))
            continue;
        acted += clipped->value(i) < reduced->value(j);
        const double expected = std::min(reduced->value(j), ddp->config.clipNorm);
        const double share = std::abs(clipped->value(i) / expected - 1);
        if (share > over) {
            over = share;
            overStep = clipped->steps[i];
        }
    }
    if (clipped->size() == 0 || agree->steps == 0) {
        cannotJudge("precision.clipping", "The run recorded no clipped norm.");
        return {};
    }
    const bool holds = over <= kClipRounding && !agree->first;
    GateCheck& check =
        add("precision.clipping", holds,
            agree->first ? fmt::format("rank {} works with another norm at step {}", agree->first->rank,
                                       agree->first->step)
                         : fmt::format("off by {:.2g}, acts in {} of {} steps", over, acted, clipped->size()),
            fmt::format("{:g}, equal on all ranks", kClipRounding),
            fmt::format("After clipping the norm is that of the reduced gradient, at most {:g}.",
                        ddp->config.clipNorm));
    check.step = agree->first ? agree->first->step : overStep;
    if (!holds)
        check.fix = "Clip after the reduction and after unscaling, on the gradient that all ranks share";
    return {};
}

Status Judge::exact(Role roleA, Role roleB, std::int64_t from, std::int64_t to, const char* id,
                    const std::string& sentence, std::vector<Quantity> only)
{
    const PrecisionRecord* a = record(roleA);
    const PrecisionRecord* b = record(roleB);
    if (!a || !b) {
        cannotJudge(id, "A run this check needs is missing.");
        return {};
    }
    CompareOptions options;
    options.tolerance.mode = CompareMode::Exact;
    options.from = from;
    options.to = to;
    options.only = std::move(only);
    const Result<Comparison> compared = compareRuns(*a->reader, a->config, *b->reader, b->config, options);
    if (!compared)
        return compared.error();
    if (compared->verdict == Verdict::CannotCompare) {
        cannotJudge(id, compared->reason);
        return {};
    }
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
Status Judge::counters()
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

Result<GateInfo> Judge::judge()
{
    gate_.phase = "precision";
    gate_.configJson = toJson(request_.base);
    const std::int64_t half = halfOf(request_);
    switches();
    const auto steps = {
        measure(),
        envelope(Role::Single, Role::Ddp, 0, "precision.envelope",
                 "DDP against one process on the same global batches, with mixed precision and clipping."),
        scaler(),
        clipping(),
    };
    for (const Status& step : steps)
        if (!step)
            return step.error();
    for (GateCheck& check : judgeCheckpoint(checkpoint_))
        gate_.checks.push_back(std::move(check));
    const auto resumes = {
        // What the first step after loading computes shows the state that was loaded: its loss the weights and the random
        // numbers, its update the optimizer.
        exact(Role::Ddp, Role::Resumed, half + 1, half + 2, "precision.rollback",
              fmt::format(
                  "Training went on to step {}; from the file of step {}, step {} comes out as it did: loss, "
                  "gradient, update, weights, buffers, optimizer and random numbers in every bit.",
                  2 * half, half, half + 1),
              ofTraining()),
        exact(Role::Ddp, Role::Resumed, half + 1, INT64_MAX, "precision.resume",
              "The interrupted and resumed run equals the uninterrupted one.", ofTraining()),
        counters(),
        envelope(Role::Ddp, Role::DdpToSingle, half + 1, "precision.ddp_to_single",
                 "One process goes on from the checkpoint of the ranks with the same global batch."),
        envelope(Role::Single, Role::SingleToDdp, half + 1, "precision.single_to_ddp",
                 "The ranks go on from the checkpoint of one process with the same global batch."),
    };
    for (const Status& resume : resumes)
        if (!resume)
            return resume.error();
    // What cannot be asked here keeps no gate closed: a single process that is another function by design, a Python that
    // is not installed.
    const auto unasked = [this](const GateCheck& check) {
        return check.id == "precision.python" || (statistics_ && check.sentence == noEnvelope_);
    };
    gate_.verdict = "pass";
    for (const GateCheck& check : gate_.checks) {
        if (check.verdict == "fail")
            gate_.verdict = "fail";
        else if (check.verdict == "cannot_judge" && !unasked(check) && gate_.verdict == "pass")
            gate_.verdict = "cannot_judge";
    }
    return std::move(gate_);
}

} // namespace

Result<GateInfo> judgePrecision(const PrecisionRequest& request, const std::vector<PrecisionRecord>& records,
                                const CheckpointFacts& checkpoint)
{
    return Judge(request, records, checkpoint).judge();
}

} // namespace lockstep
