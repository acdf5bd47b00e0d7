// Checks that hold one run of the gradients gate against another.
#include "core/base/hexfloat.h"
#include "core/gates/gradients_checks.h"
#include "core/gates/gradients_facts.h"
#include "core/gates/text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <vector>

namespace lockstep {

namespace {

constexpr int kPublishedBatches = 10;
// Two numbers closer than this print the same four decimals or neighbours.
constexpr double kFourDecimals = 5e-5;

std::string shown(Quantity quantity, std::uint64_t bits)
{
    const QuantityInfo* info = quantityInfo(quantity);
    if (info && info->type == ValueType::F64)
        return fmt::format("{:.9g}", doubleOf(bits));
    if (info && info->type == ValueType::U64)
        return fmt::format("{:016x}", bits);
    return fmt::format("{}", std::int64_t(bits));
}

struct LossPair {
    double a = 0, b = 0;

    bool equal() const { return std::abs(a - b) < kFourDecimals; }
};

// How the losses of two runs agree in their first batches.
struct BatchAgreement {
    std::size_t batches = 0; // that both have, at most kPublishedBatches
    LossPair first, mean;
    LossPair bad; // of the first batch that differs
    std::int64_t badStep = -1;
};

Result<BatchAgreement> firstBatches(RunReader& a, RunReader& b)
{
    const Result<std::vector<double>> lossesA = firstLosses(a, kPublishedBatches);
    if (!lossesA)
        return lossesA.error();
    const Result<std::vector<double>> lossesB = firstLosses(b, kPublishedBatches);
    if (!lossesB)
        return lossesB.error();
    BatchAgreement agreed;
    agreed.batches = std::min(lossesA->size(), lossesB->size());
    for (std::size_t i = 0; i < agreed.batches; ++i) {
        const LossPair losses{(*lossesA)[i], (*lossesB)[i]};
        if (i == 0)
            agreed.first = losses;
        agreed.mean.a += losses.a / double(agreed.batches);
        agreed.mean.b += losses.b / double(agreed.batches);
        if (!losses.equal() && agreed.badStep < 0) {
            agreed.bad = losses;
            agreed.badStep = std::int64_t(i) + 1;
        }
    }
    return agreed;
}

} // namespace

void GradientsChecks::place(GateCheck& check, const FirstDifference& first)
{
    check.step = first.step;
    check.rank = first.rank;
    check.parameter = first.parameter;
}

// The published rule compares a first batch with a ten-batch mean, which are different batches and cannot be equal. Read
// sensibly: on the same global batches, the first, each of the first ten, and their mean.
Status GradientsChecks::publishedRule()
{
    const GradientsRecord* one = record(Role::Baseline);
    const GradientsRecord* ddpOne = record(Role::DdpOne);
    if (const bool missing = !one || (!ddpOne && !script_) || !reference() || !allRanks();
        missing || !unequal_.empty()) {
        for (const char* id : {"gradients.first_batch", "gradients.first_ten"})
            cannotJudge(id, missing ? "A run this check needs is missing." : unequal_);
        return {};
    }
    struct Pair {
        std::string name;
        RunReader* reference;
        RunReader* run;
    };
    std::vector<Pair> pairs = {
        {fmt::format("world {}", allRanks()->config.world), reference()->reader, allRanks()->reader}};
    if (ddpOne)
        pairs.insert(pairs.begin(), Pair{"world 1", one->reader, ddpOne->reader});
    std::string firstValues, tenValues, badValue; // the last: of the first batch that differs
    bool firstHolds = true, tenHolds = true;
    std::int64_t badStep = -1;
    std::size_t batches = kPublishedBatches;
    for (const Pair& pair : pairs) {
        const Result<BatchAgreement> agreed = firstBatches(*pair.reference, *pair.run);
        if (!agreed)
            return agreed.error();
        batches = std::min(batches, agreed->batches);
        if (batches == 0)
            break;
        const char* comma = firstValues.empty() ? "" : ", ";
        firstHolds &= agreed->first.equal();
        firstValues +=
            fmt::format("{}{}: {:.4f} / {:.4f}", comma, pair.name, agreed->first.a, agreed->first.b);
        tenValues +=
            fmt::format("{}{}: mean {:.4f} / {:.4f}", comma, pair.name, agreed->mean.a, agreed->mean.b);
        if (agreed->badStep > 0 && badStep < 0) {
            badStep = agreed->badStep;
            badValue =
                fmt::format("{}: batch {} {:.5f} / {:.5f}", pair.name, badStep, agreed->bad.a, agreed->bad.b);
        }
        tenHolds &= agreed->badStep < 0 && agreed->mean.equal();
    }
    if (batches == 0) {
        for (const char* id : {"gradients.first_batch", "gradients.first_ten"})
            cannotJudge(id, "The runs have no step in common.");
        return {};
    }
    const std::string against =
        statistics_ && !script_
            ? "World 1 is held against the single process, all ranks against the twin: the model has batch "
              "statistics, which every rank forms from its own samples."
            : "DDP is held against the single process on the same global batches.";
    GateCheck& first = add("gradients.first_batch", firstHolds, firstValues, "equal to 4 decimals", against);
    GateCheck& ten =
        add("gradients.first_ten", tenHolds, badValue.empty() ? tenValues : badValue,
            fmt::format("each of {} batches and their mean equal to 4 decimals", batches), against);
    if (!firstHolds)
        first.step = 1;
    ten.step = badStep;
    for (GateCheck* check : {&first, &ten})
        if (check->verdict == "fail")
            check->fix = "Look at find_unused_parameters and at a custom reduction of the loss; the check "
                         "gradients.reduction names the factor";
    return {};
}

Status GradientsChecks::worldOne()
{
    const GradientsRecord* a = record(Role::Baseline);
    const GradientsRecord* b = record(Role::DdpOne);
    if (!a || !b) {
        cannotJudge("gradients.world_one", "A run this check needs is missing.");
        return {};
    }
    CompareOptions options;
    options.tolerance.mode = CompareMode::Exact;
    options.only = {Quantity::Loss, Quantity::GradNorm, Quantity::UpdateNorm, Quantity::ParamFingerprint};
    Result<Comparison> compared = compareRuns(*a->reader, a->config, *b->reader, b->config, options);
    if (!compared)
        return compared.error();
    if (compared->verdict == Verdict::CannotCompare) {
        cannotJudge("gradients.world_one", compared->reason);
        return {};
    }
    const FirstDifference* first = compared->origin();
    GateCheck& check =
        add("gradients.world_one", !first,
            first ? fmt::format("{}: {} / {}", titleOf(first->quantity), shown(first->quantity, first->a),
                                shown(first->quantity, first->b))
                  : fmt::format("0 bits differ in {} steps", compared->lastStep),
            "0 bits", "With one rank the wrapper has nothing to add up and must change nothing.");
    if (first) {
        place(check, *first);
        check.fix = "Something besides the number of ranks changed: compare the two configurations";
    }
    return {};
}

Status GradientsChecks::insideEnvelope()
{
    constexpr std::array quantities = {std::pair{Quantity::Loss, "gradients.loss"},
                                       std::pair{Quantity::GradNorm, "gradients.grad_norm"},
                                       std::pair{Quantity::UpdateNorm, "gradients.update_norm"}};
    std::vector<RunReader*> repeats;
    for (const GradientsRecord& r : records_)
        if (r.role == Role::Baseline || r.role == Role::Repeat)
            repeats.push_back(r.reader);
    std::string why;
    if (!unequal_.empty())
        why = unequal_;
    else if (statistics_)
        why = "The single process normalises over the global batch, a rank over its own samples; the "
              "envelope of the single run says nothing about DDP here." +
              std::string(script_ ? "" : " The twin decides.");
    else if (!record(Role::Baseline) || !record(Role::Ddp))
        why = "A run this check needs is missing.";
    Envelope envelope;
    if (why.empty()) {
        Result<Envelope> measured = measureEnvelope(repeats);
        if (measured)
            envelope = std::move(measured).value();
        else
            why = measured.error().sentence();
    }
    if (!why.empty()) {
        for (const auto& [quantity, id] : quantities)
            cannotJudge(id, why);
        return {};
    }
    for (const auto& [quantity, id] : quantities)
        if (Status held = holdInEnvelope(envelope, quantity, id); !held)
            return held;
    return {};
}

Status GradientsChecks::holdInEnvelope(const Envelope& envelope, Quantity quantity, const char* id)
{
    const GradientsRecord& single = *record(Role::Baseline);
    const GradientsRecord& ddp = *record(Role::Ddp);
    CompareOptions options;
    options.tolerance.mode = CompareMode::Envelope;
    options.envelope = &envelope;
    options.only = {quantity};
    options.distances = true;
    const Result<Comparison> compared =
        compareRuns(*single.reader, single.config, *ddp.reader, ddp.config, options);
    if (!compared)
        return compared.error();
    if (compared->verdict == Verdict::CannotCompare) {
        cannotJudge(id, compared->reason);
        return {};
    }
    const FirstDifference* first = compared->origin();
    const QuantityResult* result = compared->quantities.empty() ? nullptr : &compared->quantities.front();
    const double most = result && result->distance ? result->distance->maxAbsolute : 0;
    GateCheck& check =
        add(id, !first,
            first ? fmt::format("{} / {} at step {}", shown(quantity, first->a), shown(quantity, first->b),
                                first->step)
                  : fmt::format("at most {:.3g} apart in {} steps", most, compared->lastStep),
            first ? fmt::format("{:.3g}, measured from {} repeats", first->limit, envelope.repeats)
                  : fmt::format("the envelope of {} repeats", envelope.repeats),
            fmt::format("The {} of DDP lies {} what repeats of the single run differ by.", titleOf(quantity),
                        first ? "outside" : "inside"));
    if (first) {
        place(check, *first);
        check.fix = "Open Curves at this step and read the causal strip from the left: the first broken link "
                    "is the place to look";
    }
    return {};
}

Status GradientsChecks::twin()
{
    const GradientsRecord* run = record(Role::Random);
    const GradientsRecord* replay = record(Role::Twin);
    if (!run || !replay) {
        cannotJudge("gradients.twin", "The twin or the run it replays is missing.");
        return {};
    }
    CompareOptions options;
    options.tolerance.mode = CompareMode::Exact;
    Result<Comparison> compared =
        compareRuns(*run->reader, run->config, *replay->reader, replay->config, options);
    if (!compared)
        return compared.error();
    if (compared->verdict == Verdict::CannotCompare) {
        cannotJudge("gradients.twin", compared->reason);
        return {};
    }
    std::int64_t points = 0;
    for (const QuantityResult& result : compared->quantities)
        points += result.points;
    const FirstDifference* first = compared->origin();
    GateCheck& check =
        add("gradients.twin", !first,
            first ? fmt::format("{}: {} / {}", titleOf(first->quantity), shown(first->quantity, first->a),
                                shown(first->quantity, first->b))
                  : fmt::format("0 bits differ in {} steps, {} values", compared->lastStep, grouped(points)),
            "0 bits",
            fmt::format("One process replayed the {} ranks, random layers on, and {}.", run->config.world,
                        first ? "parts from the run" : "equals the run in every bit"));
    if (first) {
        place(check, *first);
        check.fix = fmt::format("The earliest difference is in {}: lockstep-cli diagnose names the cause",
                                causalLinkName(quantityInfo(first->quantity)->link));
    }
    return {};
}

// A loss that is reduced in another way multiplies the whole gradient: same direction, another length. AdamW hides it in
// the loss curve, so it is read off the gradient of step 1, where both runs still have the same parameters.
Status GradientsChecks::reduction()
{
    const GradientsRecord* a = reference();
    const GradientsRecord* b = allRanks();
    if (!a || !b || !unequal_.empty()) {
        cannotJudge("gradients.reduction",
                    unequal_.empty() ? "A run this check needs is missing." : unequal_);
        return {};
    }
    Result<std::optional<GradientRelation>> related = relateGradients(*a->reader, *b->reader, 1);
    if (!related)
        return related.error();
    if (!related->has_value() || (*related)->projections == 0) {
        cannotJudge("gradients.reduction", "The runs recorded no gradient of step 1.");
        return {};
    }
    const GradientRelation& relation = **related;
    // float32 gradients summed in another order agree far better than this; a wrong factor is at least 1/1024 off.
    constexpr double kFactorLimit = 1e-4;
    const bool holds = std::abs(relation.ratio - 1) < kFactorLimit && relation.cosine > 1 - kFactorLimit;
    GateCheck& check = add("gradients.reduction", holds,
                           fmt::format("x {:.6f}, cosine {:.6f}", relation.ratio, relation.cosine),
                           "x 1.000000, cosine 1.000000 (4 decimals)",
                           fmt::format("Gradient of step 1, DDP against {}.", referenceName()));
    if (holds)
        return {};
    check.step = 1;
    const double world = b->config.world, batch = double(b->config.batch), k = b->config.accumulate;
    const auto isFactor = [&](double factor) { return std::abs(relation.ratio / factor - 1) < kFactorLimit; };
    if (relation.cosine <= 1 - kFactorLimit)
        check.fix = "The direction differs, not only the length: ranks of unequal weight (ragged batches, "
                    "token means), "
                    "or other samples";
    else if (isFactor(world) && k != world)
        check.fix = "The loss is multiplied by the world size: DDP averages already, drop the factor";
    else if (isFactor(1 / world))
        check.fix =
            "The gradient is divided by the world size twice: DDP averages already, drop the division";
    else if (isFactor(k) && k > 1)
        check.fix =
            fmt::format("The accumulated gradient is not divided: divide the loss by {} before backward", k);
    else if (isFactor(batch))
        check.fix = "The loss is a sum over the rank's samples: use the mean, or divide by the global batch";
    else
        check.fix = "Find the factor in the loss or its reduction";
    return {};
}

} // namespace lockstep
