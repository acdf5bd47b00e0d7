#include "core/gates/gradients_judge.h"

#include "core/align/compare.h"
#include "core/base/hexfloat.h"
#include "core/gates/gradients_facts.h"
#include "core/gates/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace lockstep {

namespace {

constexpr int kPublishedBatches = 10;
constexpr double kFourDecimals =
    5e-5; // two numbers closer than this print the same four decimals or neighbours

std::string shown(Quantity quantity, std::uint64_t bits)
{
    const QuantityInfo* info = quantityInfo(quantity);
    if (info && info->type == ValueType::F64)
        return fmt::format("{:.9g}", doubleOf(bits));
    if (info && info->type == ValueType::U64)
        return fmt::format("{:016x}", bits);
    return fmt::format("{}", std::int64_t(bits));
}

std::string titleOf(Quantity quantity)
{
    const QuantityInfo* info = quantityInfo(quantity);
    return info ? std::string(info->title) : std::string("an unknown quantity");
}

class Judge
{
public:
    Judge(const RunConfig& base, const std::vector<GradientsRecord>& records) : base_(base), records_(records)
    {
    }

    Result<GateInfo> judge();

private:
    using Role = GradientsRun::Role;

    const GradientsRecord* record(Role role) const
    {
        const auto it = std::find_if(records_.begin(), records_.end(),
                                     [role](const GradientsRecord& r) { return r.role == role; });
        return it == records_.end() ? nullptr : &*it;
    }
    // What DDP on all ranks is held against, and the DDP run that belongs to it.
    const GradientsRecord* reference() const { return record(statistics_ ? Role::Twin : Role::Baseline); }
    const GradientsRecord* allRanks() const { return record(statistics_ ? Role::Random : Role::Ddp); }
    const char* referenceName() const { return statistics_ ? "twin" : "single"; }

    GateCheck& add(const char* id, bool holds, std::string value, std::string limit, std::string sentence)
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
    void cannotJudge(const char* id, std::string why)
    {
        add(id, false, "not judged", "", std::move(why)).verdict = "cannot_judge";
    }

    void forced();
    Status publishedRule();
    Status worldOne();
    Status insideEnvelope();
    Status twin();
    Status ranksEqual(Role role, const char* id);
    Status collectiveCounts();
    Status unused();
    Status reduction();
    void place(GateCheck& check, const FirstDifference& first);

    const RunConfig& base_;
    const std::vector<GradientsRecord>& records_;
    GateInfo gate_;
    bool statistics_ = false;
};

void Judge::place(GateCheck& check, const FirstDifference& first)
{
    check.step = first.step;
    check.rank = first.rank;
    check.parameter = first.parameter;
}

void Judge::forced()
{
    const std::vector<std::string> off = forcedOff(base_);
    const bool any = !off.empty();
    add("gradients.forced_off", true, any ? fmt::format("{}", fmt::join(off, ", ")) : "nothing to switch off",
        "off",
        any ? fmt::format("This phase ran without {}. Phase 3 turns it on again.", fmt::join(off, " and "))
            : std::string("Mixed precision and clipping are off, as this phase needs them."));
}

// The published rule compares a first batch with a ten-batch mean, which are different batches and cannot be equal. Read
// sensibly: on the same global batches, the first, each of the first ten, and their mean.
Status Judge::publishedRule()
{
    const GradientsRecord* one = record(Role::Baseline);
    const GradientsRecord* ddpOne = record(Role::DdpOne);
    if (!one || !ddpOne || !reference() || !allRanks()) {
        cannotJudge("gradients.first_batch", "A run this check needs is missing.");
        cannotJudge("gradients.first_ten", "A run this check needs is missing.");
        return {};
    }
    struct Pair {
        std::string name;
        RunReader* reference;
        RunReader* run;
    };
    const std::array pairs = {
        Pair{"world 1", one->reader, ddpOne->reader},
        Pair{fmt::format("world {}", allRanks()->config.world), reference()->reader, allRanks()->reader}};
    std::string firstValues, tenValues;
    bool firstHolds = true, tenHolds = true;
    std::int64_t badStep = -1;
    std::size_t batches = kPublishedBatches;
    for (const Pair& pair : pairs) {
        Result<std::vector<double>> a = firstLosses(*pair.reference, kPublishedBatches);
        Result<std::vector<double>> b = firstLosses(*pair.run, kPublishedBatches);
        if (!a)
            return a.error();
        if (!b)
            return b.error();
        batches = std::min({batches, a->size(), b->size()});
        if (batches == 0)
            break;
        const auto differ = [](double x, double y) { return !(std::abs(x - y) < kFourDecimals); };
        firstHolds &= !differ(a->front(), b->front());
        firstValues += fmt::format("{}{}: {:.4f} / {:.4f}", firstValues.empty() ? "" : ", ", pair.name,
                                   a->front(), b->front());
        double meanA = 0, meanB = 0;
        for (std::size_t i = 0; i < batches; ++i) {
            meanA += (*a)[i] / double(batches), meanB += (*b)[i] / double(batches);
            if (differ((*a)[i], (*b)[i]) && tenHolds) {
                tenHolds = false;
                badStep = std::int64_t(i) + 1;
            }
        }
        tenHolds &= !differ(meanA, meanB);
        tenValues +=
            fmt::format("{}{}: mean {:.4f} / {:.4f}", tenValues.empty() ? "" : ", ", pair.name, meanA, meanB);
    }
    if (batches == 0) {
        cannotJudge("gradients.first_batch", "The runs have no step in common.");
        cannotJudge("gradients.first_ten", "The runs have no step in common.");
        return {};
    }
    const std::string against =
        statistics_
            ? "World 1 is held against the single process, all ranks against the twin: the model has batch "
              "statistics, which every rank forms from its own samples."
            : "DDP is held against the single process on the same global batches.";
    GateCheck& first = add("gradients.first_batch", firstHolds, firstValues, "equal to 4 decimals", against);
    GateCheck& ten =
        add("gradients.first_ten", tenHolds, tenValues,
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

Status Judge::worldOne()
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

Status Judge::insideEnvelope()
{
    constexpr std::array quantities = {std::pair{Quantity::Loss, "gradients.loss"},
                                       std::pair{Quantity::GradNorm, "gradients.grad_norm"},
                                       std::pair{Quantity::UpdateNorm, "gradients.update_norm"}};
    const GradientsRecord* a = record(Role::Baseline);
    const GradientsRecord* b = record(Role::Ddp);
    std::vector<RunReader*> repeats;
    for (const GradientsRecord& r : records_)
        if (r.role == Role::Baseline || r.role == Role::Repeat)
            repeats.push_back(r.reader);
    std::string why;
    if (statistics_)
        why = "The single process normalises over the global batch, a rank over its own samples; the "
              "envelope of the "
              "single run says nothing about DDP here. The twin decides.";
    else if (!a || !b)
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
    for (const auto& [quantity, id] : quantities) {
        CompareOptions options;
        options.tolerance.mode = CompareMode::Envelope;
        options.envelope = &envelope;
        options.only = {quantity};
        options.distances = true;
        Result<Comparison> compared = compareRuns(*a->reader, a->config, *b->reader, b->config, options);
        if (!compared)
            return compared.error();
        if (compared->verdict == Verdict::CannotCompare) {
            cannotJudge(id, compared->reason);
            continue;
        }
        const FirstDifference* first = compared->origin();
        const QuantityResult* result = compared->quantities.empty() ? nullptr : &compared->quantities.front();
        const double most = result && result->distance ? result->distance->maxAbsolute : 0;
        const std::string value =
            first ? fmt::format("{} / {} at step {}", shown(quantity, first->a), shown(quantity, first->b),
                                first->step)
                  : fmt::format("at most {:.3g} apart in {} steps", most, compared->lastStep);
        GateCheck& check =
            add(id, !first, value,
                first ? fmt::format("{:.3g}, measured from {} repeats", first->limit, envelope.repeats)
                      : fmt::format("the envelope of {} repeats", envelope.repeats),
                fmt::format("The {} of DDP lies {} what repeats of the single run differ by.",
                            titleOf(quantity), first ? "outside" : "inside"));
        if (first) {
            place(check, *first);
            check.fix = "Open Curves at this step and read the causal strip from the left: the first broken "
                        "link is the "
                        "place to look";
        }
    }
    return {};
}

Status Judge::twin()
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

Status Judge::ranksEqual(Role role, const char* id)
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

Status Judge::collectiveCounts()
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

Status Judge::unused()
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

// A loss that is reduced in another way multiplies the whole gradient: same direction, another length. AdamW hides it in
// the loss curve, so it is read off the gradient of step 1, where both runs still have the same parameters.
Status Judge::reduction()
{
    const GradientsRecord* a = reference();
    const GradientsRecord* b = allRanks();
    if (!a || !b) {
        cannotJudge("gradients.reduction", "A run this check needs is missing.");
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

Result<GateInfo> Judge::judge()
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
    gate_.verdict = "pass";
    for (const GateCheck& check : gate_.checks) {
        const bool envelopeOfOtherFunction =
            statistics_ && (check.id == "gradients.loss" || check.id == "gradients.grad_norm" ||
                            check.id == "gradients.update_norm");
        if (check.verdict == "fail")
            gate_.verdict = "fail";
        else if (check.verdict == "cannot_judge" && !envelopeOfOtherFunction && gate_.verdict == "pass")
            gate_.verdict = "cannot_judge";
    }
    return gate_;
}

} // namespace

Result<GateInfo> judgeGradients(const RunConfig& base, const std::vector<GradientsRecord>& records)
{
    return Judge(base, records).judge();
}

} // namespace lockstep
