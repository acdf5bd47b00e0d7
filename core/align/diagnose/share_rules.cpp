// Family B: ranks that hold unequal shares of a step and weigh the same in its mean.
#include "core/align/diagnose/inputs.h"
#include "core/align/diagnose/rules.h"
#include "core/align/diagnose/script_acts.h"
#include "core/align/diagnose/solved_shares.h"

#include <algorithm>

namespace lockstep::align {

namespace {

// Each rank weighs the same although they hold different numbers of samples or tokens: reweighted by those numbers, the
// recorded local gradients give the reference's gradient.
void unequalShares(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (!sameInputs(c, step) || c.world() < 2)
        return;
    const std::optional<Gradient> wanted = c.ref().reduced(c.ref().ranks().front(), step);
    for (const auto& [quantity, cause, unit] :
         {std::tuple(Quantity::Tokens, "B5", "tokens"), std::tuple(Quantity::Samples, "B4", "samples")}) {
        if (quantity == Quantity::Tokens && !c.sus().has(quantity) && !c.sus().leavesTargetsOut())
            continue;
        std::vector<double> weights;
        for (const int rank : c.sus().ranks())
            if (const std::optional<double> weight = quantity == Quantity::Tokens
                                                         ? c.sus().targets(rank, step)
                                                         : c.sus().total(rank, quantity, step))
                weights.push_back(*weight);
        if (int(weights.size()) != c.world() || *std::min_element(weights.begin(), weights.end()) ==
                                                    *std::max_element(weights.begin(), weights.end()))
            continue;
        const std::optional<Relation> plain = c.localMean(step);
        const std::optional<Relation> reweighted = relate(c.sus().localMean(step, weights), wanted);
        if (!plain || !reweighted || plain->same(c.precision()) || !reweighted->same(4 * c.precision()))
            continue;
        std::string shares;
        for (const double weight : weights)
            shares += fmt::format("{}{:g}", shares.empty() ? "" : ", ", weight);
        Suspicion s;
        s.cause = cause;
        s.fit = kSignature + 6;
        s.step = step;
        // Of whole samples some can be left out by the loss, too.
        const bool ofSamples = quantity == Quantity::Tokens && !c.sus().has(quantity);
        // What comes in is not dealt to the ranks; the targets are their samples then.
        const bool dealt = ofSamples && rowsAreNoSamples(c.ref(), c.sus());
        if (dealt)
            s.cause = "B4";
        else if (ofSamples) {
            s.sentence = "Each rank averages over its own targets that count, although the ranks hold "
                         "different numbers of them";
            s.fix = "Divide the summed loss by the targets that count on all ranks together";
        }
        s.fact = fmt::format(
            "At step {} the ranks hold {} {}; weighted by them their gradients give the reference's.", step,
            shares,
            dealt       ? "targets"
            : ofSamples ? "targets that count"
                        : unit);
        s.evidence.push_back({"gradient, ranks weighted alike",
                              fmt::format("{:.1e} off the reference", plain->distance),
                              Quantity::GradNorm,
                              step,
                              -1,
                              {}});
        s.evidence.push_back({fmt::format("gradient, ranks weighted by {}", unit),
                              fmt::format("{:.1e} off the reference", reweighted->distance),
                              Quantity::GradNormLocal,
                              step,
                              -1,
                              {}});
        s.excluded.push_back({"B3", "no one factor fits all ranks", Quantity::GradNormLocal, step, -1, {}});
        solveStep(s, c.first(quantity) == step ? 1 : step);
        out.push_back(std::move(s));
        return;
    }
    // Rank by rank: each local gradient is a multiple of the reference's, each by a factor of its own.
    if (!c.rankByRank())
        return;
    std::string factors;
    bool uneven = false;
    std::optional<double> before;
    for (const int rank : c.sus().ranks()) {
        const std::optional<Relation> local = c.local(rank, step);
        if (!local || !local->proportional(4 * c.precision()))
            return;
        factors += fmt::format("{}{:.6g}", factors.empty() ? "" : ", ", local->ratio);
        uneven = uneven || (before && !near(*before, local->ratio, 1e-5));
        before = local->ratio;
    }
    if (!uneven)
        return;
    Suspicion s;
    s.cause = c.sus().has(Quantity::Tokens) ? "B5" : "B4";
    s.fit = kSignature;
    s.step = step;
    s.fact = fmt::format("At step {} the ranks' gradients are {} times the reference's.", step, factors);
    s.evidence.push_back(
        {"gradient before reduction, by rank", factors, Quantity::GradNormLocal, step, -1, {}});
    solveStep(s, step);
    out.push_back(std::move(s));
}

// The ranks hold different numbers of samples although the reference deals them evenly.
void unequalDeal(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (step < 1 || c.world() < 2)
        return;
    std::string own;
    double least = 0, most = 0;
    for (const int rank : c.sus().ranks()) {
        const double n = c.sus().total(rank, Quantity::Samples, step).value_or(0);
        least = own.empty() ? n : std::min(least, n);
        most = std::max(most, n);
        own += fmt::format("{}{:g}", own.empty() ? "" : ", ", n);
    }
    if (least == most || !c.differsAt(Quantity::SampleIds, step))
        return;
    Suspicion s;
    s.cause = "B4";
    s.fit = kSignature + 4;
    s.step = step;
    s.fact = fmt::format("At step {} the ranks hold {} samples and weigh the same.", step, own);
    s.evidence.push_back({"samples by rank", own, Quantity::Samples, step, -1, {}});
    // What a rank kept of what the reference dealt it; the middle of the numbers that round to it.
    const int last = c.sus().ranks().back();
    const double kept = c.sus().value(last, Quantity::Samples, step, 0).value_or(0);
    const double dealt = c.ref().value(c.refRank(last), Quantity::Samples, step, 0).value_or(0) /
                         (c.rankByRank() ? 1 : c.world());
    if (dealt > kept)
        s.solved["share"] = fmt::format("{:.6g}", (kept + 0.5) / dealt);
    out.push_back(std::move(s));
}

// A script may divide by a count that nothing records, as of boxes: then the shares are solved for.
void unknownShares(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (!bothScripts(c) || c.rankByRank() || !sameInputs(c, step) || c.link() > CausalLink::PreReduction ||
        drawsEachStep(c.sus()) || batchStatistics(c.sus()) || lossScaling(c.ref(), c.sus(), step) ||
        !c.sus().sameOnRanks(Quantity::Samples, step).value_or(false))
        return;
    const std::optional<std::vector<double>> weights = solvedShares(c, step);
    if (!weights)
        return;
    std::string shares;
    for (const double weight : *weights)
        shares += fmt::format("{}{:.4g}", shares.empty() ? "" : ", ", weight);
    Suspicion s = suspect(
        "B5", kSignature + 5, step, "shares of the ranks",
        fmt::format(
            "At step {} the ranks' gradients and losses, weighted by {}, give the reference's, although "
            "the ranks hold equally many samples.",
            step, shares),
        Quantity::GradNormLocal);
    s.sentence = "Each rank divides its loss by a count of its own, although the ranks' counts differ";
    s.fix = "Divide by the count of all ranks together (all_reduce it), and multiply by the number of ranks, "
            "which DDP divides by";
    s.excluded.push_back({"B3", "no one factor fits all ranks", Quantity::GradNormLocal, step, -1, {}});
    s.excluded.push_back({"B4", "the ranks hold equally many samples", Quantity::Samples, step, -1, {}});
    out.push_back(std::move(s));
}

constexpr Rule kRules[] = {unequalShares, unequalDeal, unknownShares};

} // namespace

std::span<const Rule> shareRules()
{
    return kRules;
}

} // namespace lockstep::align
