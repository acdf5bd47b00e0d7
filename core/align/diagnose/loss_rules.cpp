// Family B: how losses are formed, scaled and reduced. The mark is one factor on the whole gradient; where it enters (before or
// after the reduction) and which count of the run it equals names the cause. Weights of the ranks: share_rules.cpp.
#include "core/align/diagnose/rules.h"
#include "core/align/diagnose/script_acts.h"

#include <algorithm>
#include <cmath>

namespace lockstep::align {

namespace {

struct Factor {
    double value = 1;
    bool beforeReduction = true;
    std::vector<int> ranks; // that have it
    double residual = 0;
};

// One factor on the gradients of the first divergent step, before or in the reduction; nullopt: none.
std::optional<Factor> commonFactor(const Case& c, std::int64_t step)
{
    const double precision = c.precision();
    Factor factor;
    if (c.rankByRank()) {
        std::optional<double> common;
        for (const int rank : c.sus().ranks()) {
            const std::optional<Relation> local = c.local(rank, step);
            if (!local)
                return {};
            if (local->same(precision))
                continue;
            if (!local->proportional(precision) || (common && !near(local->ratio, *common, 2 * precision)))
                return {};
            common = common.value_or(local->ratio);
            factor.ranks.push_back(rank);
            factor.residual = std::max(factor.residual, local->residual);
        }
        if (common) {
            factor.value = *common;
            return factor;
        }
    } else {
        const std::optional<Relation> mean = c.localMean(step);
        const bool unseen =
            !mean && c.sus().reduced(c.sus().ranks().front(), step) && isUsersScript(c.sus().traits());
        if (!unseen && (!mean || !mean->proportional(precision)))
            return {};
        if (mean && !mean->same(precision)) {
            factor = {mean->ratio, true, c.sus().ranks(), mean->residual};
            return factor;
        }
    }
    factor.beforeReduction = false;
    for (const int rank : c.sus().ranks()) {
        const std::optional<Relation> reduced = c.reduced(rank, step);
        if (!reduced || !reduced->proportional(precision) || reduced->same(precision))
            return {};
        if (!factor.ranks.empty() && !near(reduced->ratio, factor.value, 2 * precision))
            return {};
        factor.value = reduced->ratio;
        factor.ranks.push_back(rank);
        factor.residual = std::max(factor.residual, reduced->residual);
    }
    return factor;
}

struct Counts {
    double world, micros, samples;
    double tokens; // of a micro-batch, mean of the ranks; 0: not known
};

Counts countsAt(const Case& c, std::int64_t step)
{
    const int rank = c.sus().ranks().front();
    double tokens = 0;
    for (const int r : c.sus().ranks())
        tokens += c.sus().value(r, Quantity::Tokens, step, 0).value_or(0) / c.world();
    return {double(c.sus().traits().ranks()), c.sus().value(rank, Quantity::MicroSteps, step).value_or(1),
            c.sus().value(rank, Quantity::Samples, step, 0).value_or(0), tokens};
}

Evidence factorRow(const Factor& f, std::int64_t step, int world)
{
    const Quantity q = f.beforeReduction ? Quantity::GradNormLocal : Quantity::GradNorm;
    return {f.beforeReduction ? "gradient before reduction" : "gradient after reduction",
            fmt::format(
                "{:.7g} times the reference on {}; what is left of it after the factor: {:.1e} of its size",
                f.value, rankList(f.ranks, world), f.residual),
            q,
            step,
            f.ranks.size() == 1 ? f.ranks.front() : -1,
            {}};
}

void factorOnGradient(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (!sameInputs(c, step) || lossScaling(c.ref(), c.sus(), step) || // told: script_rules.cpp
        clippedScaled(c.sus(), c.sus().ranks().front(), step))
        return;
    const std::optional<Factor> found = commonFactor(c, step);
    if (!found || near(found->value, 1, 1e-6))
        return;
    const Factor& f = *found;
    const double loss = c.lossRatioMean(step).value_or(1);
    const bool lossToo = near(loss, f.value, 1e-4);
    const bool lossEqual = near(loss, 1, 16 * c.precision());
    const Counts n = countsAt(c, step);
    const double tolerance = std::max(1e-4, 4 * c.precision());
    const auto is = [&](double value) { return value > 0 && near(f.value, value, tolerance); };

    const auto add = [&](const char* cause, int fit, const std::string& origin, bool solveFactor) {
        Suspicion s;
        s.cause = cause;
        s.fit = fit;
        s.step = step;
        s.rank = f.ranks.size() == 1 && c.world() > 1 ? f.ranks.front() : -1;
        s.fact = fmt::format("From step {} the gradient is {} times the reference{}.", step,
                             factorText(f.value), origin);
        s.evidence.push_back(factorRow(f, step, c.world()));
        s.evidence.push_back({"loss",
                              lossEqual ? "equal" : fmt::format("{:.7g} times the reference", loss),
                              Quantity::Loss,
                              step,
                              -1,
                              {}});
        solveStep(s, step);
        if (solveFactor)
            s.solved["k"] = factorText(f.value < 1 ? 1 / f.value : f.value);
        if (s.rank >= 0)
            s.solved["rank"] = std::to_string(s.rank);
        if (std::string_view(cause) != "B6" && n.micros > 1)
            s.excluded.push_back({"B6",
                                  fmt::format("the factor is not the {:g} micro-batches of a step", n.micros),
                                  {},
                                  step,
                                  -1,
                                  {}});
        if (std::string_view(cause) != "B1")
            s.excluded.push_back(
                {"B1",
                 fmt::format("the factor is not the {:g} samples of a micro-batch", n.samples),
                 {},
                 step,
                 -1,
                 {}});
        s.excluded.push_back(
            {"B4", "the factor is the same on all ranks", Quantity::GradNormLocal, step, -1, {}});
        s.excluded.push_back(
            {"D1", "the learning rate is the reference's", Quantity::LearningRate, step, -1, {}});
        // Dividing and multiplying by a power of two is exact in binary: (loss / 2) * 2 is loss.
        if (f.beforeReduction && !solveFactor &&
            std::exp2(std::round(std::log2(f.value))) == roundedFactor(f.value) &&
            (s.cause == "B2" || s.cause == "B6") && n.micros == n.world)
            s.sameBits = "factor";
        std::erase_if(s.excluded, [&](const Evidence& row) {
            return (row.label == "B6" && is(n.micros)) || (row.label == "B1" && is(n.samples));
        });
        out.push_back(std::move(s));
    };
    // The local gradients are right, and an all_reduce of the script's own made their sum of them.
    const bool ownHook = !settingOf(c.sus().traits(), "workload_options.comm_hook").empty();
    const bool ownSum = !hasWrapper(c.sus()) && callsCollective(c.sus().traits(), "all_reduce");
    if (!f.beforeReduction && is(n.world) && n.world > 1 && isUsersScript(c.sus().traits()) &&
        (ownHook || ownSum)) {
        add("B2", kSignature + 6,
            ownSum ? ", the number of ranks: the script's own all_reduce adds them up, without a DDP wrapper"
                   : ", the number of ranks: a function of the script's own adds up DDP's buckets",
            false);
        out.back().sentence = "The gradients are summed over the ranks and not divided by their number";
        out.back().fix = "Divide by the number of ranks after the all_reduce, or reduce with ReduceOp.AVG";
        out.back().excluded.push_back(
            {"B12", "the factor comes from the reduction over all ranks", {}, step, -1, {}});
        return;
    }
    const int sharp = f.beforeReduction ? kSignature : kPattern;
    if (is(n.samples) && n.samples > 1 && f.beforeReduction)
        add("B1",
            lossToo       ? kSignature + 8
            : is(n.world) ? kSignature - 1
                          : kSignature + 1,
            ", the number of samples of a micro-batch", false);
    else if (is(n.tokens) && n.tokens > 1 && f.beforeReduction)
        add("B1", kSignature + 1, ", the number of tokens of a rank's micro-batch", false);
    if (lossToo && !lossEqual)
        add("B1", kPattern + 5, ", as is the loss", false);
    if (is(n.micros) && n.micros > 1)
        add("B6", sharp + (n.micros == n.world ? 2 : 4), ", the number of accumulated micro-batches", false);
    else if (n.micros > 1 && f.value > 1)
        add("B6", kPattern, "", true);
    if (is(n.world) && n.world > 1)
        add("B2", sharp + 3, ", the number of ranks", false);
    else if (f.value > 1)
        add("B2", kPattern + 5, "", true);
    if (is(1 / n.world) && n.world > 1) {
        add("B3", kSignature + 3, ": it was divided by the number of ranks once more", false);
        const bool gathers =
            f.beforeReduction && (callsCollective(c.sus().traits(), "all_gather") ||
                                  callsCollective(c.sus().traits(), "all_gather_into_tensor"));
        add("B9", gathers ? kSignature + 5 : kPattern, ": the gathered part carries no gradient", false);
    } else if (f.value < 1 && f.value > 0) {
        add("B3", kPattern + 5, "", true);
        add("B9", kPattern - 10, "", false);
    }
    const double power = std::log2(f.value);
    if (f.value > 1 && near(power, std::round(power), 1e-6))
        add("B12", (f.beforeReduction ? kPattern : kSignature) - (is(n.world) ? 5 : 0),
            fmt::format(", 2 to the power of {:g}", std::round(power)), false);
}

// The gradient before reduction is not a multiple of the reference's although loss and data are equal. Whether it grew or
// shrank, and in all parameters or some, tells a part counted twice from a part that is missing.
void partOfGradient(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (!sameInputs(c, step) || c.link() != CausalLink::PreReduction || commonFactor(c, step) ||
        c.ref().traits().amp != c.sus().traits().amp || lossScaling(c.ref(), c.sus(), step) ||
        (isUsersScript(c.sus().traits()) && sumsNarrow(c.sus(), step)))
        return;
    const std::optional<Relation> mean = c.localMean(step);
    const bool spread = !c.sus().sameOnRanks(Quantity::GradNorm, step).value_or(true);
    if (!mean || mean->distance < 1e-5 || spread)
        return;
    const TensorCount off =
        c.rankByRank() ? tensorsOff(c, step, &TensorRecord::localFingerprint) : TensorCount();
    const bool some = off.all > 0 && off.names.size() < off.all;
    const bool grew = mean->ratio > 1.2;
    const auto add = [&](const char* cause, int fit, const std::string& excluded) {
        Suspicion s;
        s.cause = cause;
        s.fit = fit;
        s.step = step;
        s.fact = fmt::format(
            "At step {} the loss is equal, and the gradient is not a multiple of the reference's{}.", step,
            some ? fmt::format(": {} of {} parameters differ", off.names.size(), off.all) : "");
        s.evidence.push_back({"gradient before reduction, mean of the ranks",
                              fmt::format("{:.6g} times the reference, {:.2e} of it in another direction",
                                          mean->ratio, mean->residual),
                              Quantity::GradNormLocal, step, -1, some ? off.names.front() : std::string()});
        s.excluded.push_back(
            {"B2", "no one factor explains the gradient", Quantity::GradNormLocal, step, -1, {}});
        s.excluded.push_back(
            {"B7", "the ranks end the reduction with the same gradient", Quantity::GradNorm, step, -1, {}});
        if (!excluded.empty())
            s.excluded.push_back({excluded,
                                  grew ? "the gradient grew: nothing is missing"
                                       : "the gradient did not grow: nothing was added twice",
                                  Quantity::GradNormLocal,
                                  step,
                                  -1,
                                  {}});
        solveStep(s, step);
        out.push_back(std::move(s));
    };
    double micros = c.sus().value(c.sus().ranks().front(), Quantity::MicroSteps, step).value_or(1);
    if (severalOptimizers(c.sus().traits()))
        micros = 1; // backward passes of several optimizers are no accumulation
    if (micros > 1 && grew)
        add("B12", some ? kPattern : kSignature + 2, "D10");
    if (micros > 1 && !grew)
        add("D10", some ? kSignature + 4 : kSignature - 2, "B12");
    // Of a script it is known whether it gathers at all.
    const bool gathers = callsCollective(c.sus().traits(), "all_gather") ||
                         callsCollective(c.sus().traits(), "all_gather_into_tensor");
    if (isUsersScript(c.sus().traits()) && !grew && gathers)
        add("B9", kSignature, "");
    else if (!grew && !isUsersScript(c.sus().traits()))
        add("B9", micros > 1 ? kPattern - 10 : kPattern, "");
}

constexpr Rule kRules[] = {factorOnGradient, partOfGradient};

} // namespace

std::span<const Rule> lossRules()
{
    return kRules;
}

} // namespace lockstep::align
