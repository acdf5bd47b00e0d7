// Family D, but for the learning rate (rate_rules.cpp): clipping, scaling, and what the optimizer does with a right gradient.
#include "core/align/diagnose/rules.h"
#include "core/align/diagnose/script_acts.h"

#include <algorithm>
#include <cmath>

namespace lockstep::align {

namespace {

// The first step at which some rank's own gradient is longer than the limit; -1: none.
std::int64_t firstClipped(const RunTrace& run)
{
    for (const std::int64_t step : run.steps(run.ranks().front(), Quantity::GradNormLocal))
        for (const int rank : run.ranks())
            if (run.value(rank, Quantity::GradNormLocal, step).value_or(0) > run.traits().clipNorm)
                return step;
    return -1;
}

// The first step at which a rank clips by another number than the norm of its gradient; -1: none.
std::int64_t firstOddNorm(const RunTrace& run)
{
    constexpr double kFloat32 = 1e-5; // torch forms the norm in float32
    for (const std::int64_t step : run.steps(run.ranks().front(), Quantity::ClipNormTorch))
        for (const int rank : run.ranks()) {
            const auto used = run.value(rank, Quantity::ClipNormTorch, step);
            const auto norm = run.value(rank, Quantity::GradNorm, step);
            if (used && norm && std::isfinite(*norm) && !near(*used, *norm, kFloat32))
                return step;
        }
    return -1;
}

// What went into the reduction is right; what came out is the mean of the clipped gradients.
void clippedBeforeReduction(const Case& c, Suspicions& out)
{
    const double limit = c.sus().traits().clipNorm;
    if (limit <= 0 || c.world() < 2)
        return;
    const std::int64_t step = c.rankByRank() ? c.start() : firstClipped(c.sus());
    if (step < 1 || (c.rankByRank() && c.link() < CausalLink::PreReduction))
        return;
    std::vector<double> weights;
    double largest = 0;
    for (const int rank : c.sus().ranks()) {
        const std::optional<Gradient> own = c.sus().local(rank, step);
        if (!own)
            return;
        weights.push_back(std::min(1.0, limit / (own->norm + 1e-6))); // torch's clip_grad_norm_
        largest = std::max(largest, own->norm);
    }
    std::optional<Gradient> clipped = c.sus().localMean(step, weights);
    const std::optional<Gradient> plain = c.sus().localMean(step);
    if (!clipped || !plain || largest <= limit)
        return;
    double scale = 0;
    for (const double weight : weights)
        scale += weight / double(weights.size());
    for (double& part : clipped->projection)
        part *= scale;
    const std::optional<Relation> asClipped = relate(c.sus().reduced(c.sus().ranks().front(), step), clipped);
    const std::optional<Relation> asMean = relate(c.sus().reduced(c.sus().ranks().front(), step), plain);
    if (!asClipped || !asMean || !asClipped->same(16 * c.precision()) || asMean->same(16 * c.precision()))
        return;
    Suspicion s = suspect(
        "D3", kSignature + 7, step, "gradient after reduction",
        fmt::format("At step {} it is the mean of gradients each clipped to {:g} ({:.1e} off), not the mean "
                    "({:.1e} off); the largest local norm is {:.4g}.",
                    step, limit, asClipped->distance, asMean->distance, largest),
        Quantity::GradNorm);
    s.excluded.push_back({"B3", "each rank has a factor of its own", Quantity::GradNormLocal, step, -1, {}});
    s.excluded.push_back(
        {"D5", "the reduced gradient itself differs, before clipping", Quantity::GradNorm, step, -1, {}});
    out.push_back(std::move(s));
}

void clippingNorm(const Case& c, Suspicions& out)
{
    const std::int64_t step = firstOddNorm(c.sus());
    if (step < 1 || clippedScaled(c.sus(), c.sus().ranks().front(), step) || // script_optimizer_rules.cpp
        (c.rankByRank() && c.first(Quantity::ClipNormTorch) != step))
        return;
    const double world = c.world();
    std::vector<int> off;
    double squares = 0;
    std::string norms;
    bool equal = true, ownNorms = true;
    std::optional<double> common;
    for (const int rank : c.sus().ranks()) {
        const double used = c.sus().value(rank, Quantity::ClipNormTorch, step).value_or(0);
        const double ratio = used / c.sus().value(rank, Quantity::GradNorm, step).value_or(used);
        squares += ratio * ratio;
        norms += fmt::format("{}{:.6g}", norms.empty() ? "" : ", ", ratio);
        equal = equal && (!common || near(*common, ratio, 1e-6));
        ownNorms =
            ownNorms && near(used, c.sus().value(rank, Quantity::GradNormLocal, step).value_or(0), 1e-5);
        if (!near(ratio, 1, 1e-5))
            off.push_back(rank);
        common = common.value_or(ratio);
    }
    if (off.empty() || (ownNorms && world > 1)) // clipped before the reduction: D3
        return;
    const std::string fact =
        fmt::format("At step {} the norms used for clipping are {} times the gradient's.", step, norms);
    const auto add = [&](const char* cause, int fit, const std::string& reason) {
        Suspicion s = suspect(cause, fit, step, "norm used for clipping", fact, Quantity::ClipNormTorch);
        s.evidence.push_back({"reading", reason, Quantity::ClipNormTorch, step, -1, {}});
        s.excluded.push_back(
            {"B2", "the norm is not that of the run's own gradient", Quantity::GradNorm, step, -1, {}});
        s.rank = off.size() == 1 && world > 1 ? off.front() : -1;
        if (s.rank >= 0)
            s.solved["rank"] = std::to_string(s.rank);
        solveStep(s, step);
        out.push_back(std::move(s));
    };
    if (equal && *common > 1)
        add("D5", near(*common, std::sqrt(world), 1e-5) ? kSignature + 6 : kPattern + 5,
            near(*common, std::sqrt(world), 1e-5) ? "the root of the number of ranks"
                                                  : "the same factor on all ranks");
    if (!equal && near(squares, 1, 1e-4))
        add("D4", kSignature + 6, "the squares of the ranks' norms add up to that of the gradient");
    else if (off.size() < std::size_t(c.world()))
        add("D9", kSignature + 3, fmt::format("only {} is off", rankList(off, c.world())));
    if (!equal && squares < world)
        add("D9", kPattern + 10, "a norm over fewer parameters");
    if (!equal && !near(squares, 1, 1e-4))
        add("D4", kPattern, "each rank has a norm of its own");
}

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

constexpr Rule kRules[] = {clippedBeforeReduction, clippingNorm, nothingUpdated, update, scaler,
                           partOfAccumulation};

} // namespace

std::span<const Rule> optimizerRules()
{
    return kRules;
}

} // namespace lockstep::align
