// Family D, but for the learning rate (rate_rules.cpp) and clipping (clipping_rules.cpp): scaling, and what the optimizer does
// with a right gradient.
#include "core/align/diagnose/rules.h"
#include "core/align/diagnose/script_acts.h"

#include <algorithm>
#include <cmath>

namespace lockstep::align {

namespace {

// A gradient and a rate above 0, and nothing moved.
void nothingUpdated(const Case& c, Suspicions& out)
{
    const int rank = c.sus().ranks().front();
    for (const std::int64_t step : c.sus().steps(rank, Quantity::UpdateNorm)) {
        // A script whose optimizer holds other parameters than the model has no gradient at all.
        const auto own = c.sus().value(rank, Quantity::GradNorm, step);
        const bool none = isUsersScript(c.sus().traits()) && !own &&
                          c.ref().value(c.refRank(rank), Quantity::UpdateNorm, step).value_or(0) > 0;
        const double gradient =
            none ? c.ref().value(c.refRank(rank), Quantity::GradNorm, step).value_or(0) : own.value_or(0);
        if (step < 1 || c.sus().value(rank, Quantity::UpdateNorm, step) != 0.0 || !(gradient > 0) ||
            c.sus().value(rank, Quantity::LearningRate, step).value_or(0) <= 0 ||
            c.sus().value(rank, Quantity::StepSkipped, step).value_or(0) != 0)
            continue;
        if (c.rankByRank() && step != c.start())
            return;
        Suspicion s = suspect(
            "D6", kSignature + 8, step, "update norm",
            none ? fmt::format("At step {} nothing was updated: no parameter of the optimizer has a "
                               "gradient, and the reference's is {:.4g}.",
                               step, gradient)
                 : fmt::format("At step {} nothing was updated although the gradient's norm is {:.4g}.", step,
                               gradient),
            Quantity::UpdateNorm);
        s.excluded.push_back({"D8", "no step was skipped", Quantity::StepSkipped, step, rank, {}});
        s.excluded.push_back({"D1", "the learning rate is above 0", Quantity::LearningRate, step, rank, {}});
        solveStep(s, step);
        out.push_back(std::move(s));
        return;
    }
}

// Same gradient and rate, another update.
void update(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    const Amplified amplified = step < 1 ? Amplified::No : roundingAmplified(c, step);
    if (step < 1 || c.link() != CausalLink::Update || c.first(Quantity::LearningRate) == step ||
        c.first(Quantity::StepSkipped) == step ||
        (isUsersScript(c.sus().traits()) && c.first(Quantity::OptimizerStep) == step) ||
        amplified == Amplified::Yes) // script_optimizer_rules.cpp
        return;
    const int rank = c.sus().ranks().front();
    const auto own = c.sus().value(rank, Quantity::UpdateNorm, step);
    const auto wanted = c.ref().value(c.refRank(rank), Quantity::UpdateNorm, step);
    const auto gradient = c.sus().value(rank, Quantity::GradNorm, step);
    if (!own || !wanted)
        return;
    std::vector<std::string> names; // whose update differs
    std::size_t all = 0;
    if (c.rankByRank()) {
        const std::vector<TensorRecord>& theirs = c.ref().tensors(rank, step);
        for (const TensorRecord& record : c.sus().tensors(rank, step)) {
            const auto other = std::find_if(theirs.begin(), theirs.end(),
                                            [&](const auto& t) { return t.name == record.name; });
            if (record.buffer || other == theirs.end())
                continue;
            ++all;
            if (bitsOf(record.updateNorm) != bitsOf(other->updateNorm) ||
                record.stateFingerprint != other->stateFingerprint)
                names.push_back(record.name);
        }
    }
    const std::string which =
        names.empty() ? "" : fmt::format(" It differs for {} of {} parameters.", names.size(), all);
    const auto add = [&](const char* cause, int fit, const std::string& fact) {
        Suspicion s = suspect(cause, fit, step, "update norm", fact + which, Quantity::UpdateNorm);
        s.parameter = names.size() == 1 ? names.front() : "";
        s.open = amplified == Amplified::Possible;
        s.evidence.push_back({"gradient that reached the optimizer",
                              "equal to the reference's",
                              Quantity::GradNorm,
                              step,
                              rank,
                              {}});
        s.excluded.push_back(
            {"D1", "the learning rate is the reference's", Quantity::LearningRate, step, rank, {}});
        solveStep(s, step);
        out.push_back(std::move(s));
    };
    if (*own == 0 && gradient.value_or(0) > 0)
        return; // nothingUpdated
    const std::string factText = fmt::format(
        "At step {} the update's norm is {:.7g}, the reference's {:.7g}, from the same gradient and rate.",
        step, *own, *wanted);
    const bool decay = c.ref().traits().weightDecay > 0 || c.sus().traits().weightDecay > 0;
    const bool resumed = std::any_of(c.sus().events().begin(), c.sus().events().end(),
                                     [](const EventRecord& e) { return e.kind == "resume"; });
    if (decay)
        add("D7", kSignature, factText);
    if (c.sus().traits().accumulate > 1)
        add("D10", decay ? kPattern : kSignature, factText);
    if (resumed)
        add("F5", kPattern, factText);
    if (!decay)
        add("D7", kRemainder + 10, factText);
}

void scaler(const Case& c, Suspicions& out)
{
    std::int64_t step = -1;
    Quantity quantity = Quantity::FoundInf;
    for (const Quantity q : {Quantity::FoundInf, Quantity::StepSkipped, Quantity::ScalerScale}) {
        const std::int64_t at = c.sus().firstSpread(q, 1);
        if (at >= 0 && (step < 0 || at < step)) {
            step = at;
            quantity = q;
        }
    }
    if (step < 0 || (c.start() >= 0 && c.start() < step))
        return;
    std::string skipped;
    std::vector<int> odd;
    for (const int rank : c.sus().ranks()) {
        const double own = c.sus().value(rank, quantity, step).value_or(0);
        skipped += fmt::format("{}{:g}", skipped.empty() ? "" : ", ", own);
        if (own != 0 && quantity != Quantity::ScalerScale)
            odd.push_back(rank);
    }
    Suspicion s = suspect(
        "D8", kSignature + 8, step, std::string(quantityInfo(quantity)->title),
        fmt::format("At step {} the ranks have {} for \"{}\".", step, skipped, quantityInfo(quantity)->title),
        quantity);
    s.rank = odd.size() == 1 ? odd.front() : -1;
    if (s.rank >= 0)
        s.solved["rank"] = std::to_string(s.rank);
    solveStep(s, step);
    s.evidence.push_back(
        {"parameters of the ranks",
         fmt::format("first differ at step {}", c.sus().firstSpread(Quantity::ParamFingerprint, 1)),
         Quantity::ParamFingerprint,
         step,
         -1,
         {}});
    out.push_back(std::move(s));
}

// Part of what the micro-batches added up is missing after accumulation.
void partOfAccumulation(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (step < 1 || c.link() != CausalLink::Reduced || c.sus().traits().accumulate < 2)
        return;
    const std::optional<Relation> reduced = c.reduced(c.sus().ranks().front(), step);
    if (!reduced || reduced->proportional(c.precision()) || reduced->distance < 0x1p-5)
        return;
    if (!c.sus().sameOnRanks(Quantity::GradNorm, step).value_or(false))
        return;
    Suspicion s = suspect("D10", kPattern + 15, step, "gradient after reduction",
                          fmt::format("At step {} the reduced gradient is {:.2g} of its size off, equally on "
                                      "all ranks; what went in is "
                                      "right.",
                                      step, reduced->distance),
                          Quantity::GradNorm);
    solveStep(s, step);
    out.push_back(std::move(s));
}

constexpr Rule kRules[] = {nothingUpdated, update, scaler, partOfAccumulation};

} // namespace

std::span<const Rule> optimizerRules()
{
    return kRules;
}

} // namespace lockstep::align
