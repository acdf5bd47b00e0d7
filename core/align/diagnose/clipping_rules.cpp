// Family D: by which norm gradients are clipped, and when.
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
            // Longer than the limit, and still as long after clipping: recorded after it, as for an optimizer just made.
            const bool late = isUsersScript(run.traits()) && used > run.traits().clipNorm &&
                              run.traits().clipNorm > 0 && norm &&
                              norm == run.value(rank, Quantity::GradNormClipped, step);
            if (used && norm && std::isfinite(*norm) && !late && !near(*used, *norm, kFloat32))
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
    // The reference clips by the same number: then its gradient was not the one of the record either.
    const auto theirs = bothScripts(c) && !c.rankByRank()
                            ? c.ratio(c.sus().ranks().front(), Quantity::ClipNormTorch, step)
                            : std::nullopt;
    if (step < 1 || (theirs && near(*theirs, 1, 1e-5)) ||
        clippedScaled(c.sus(), c.sus().ranks().front(), step) || // script_optimizer_rules.cpp
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

// A script without a wrapper clips by the norm of what the rank has, and averages the clipped gradients after that.
void clippedBeforeOwnReduction(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (!bothScripts(c) || step < 1 || c.world() < 2 || settingOf(c.sus().traits(), "mode") == "fsdp" ||
        c.sus().sameOnRanks(Quantity::ClipNormTorch, step).value_or(true))
        return;
    std::string norms;
    for (const int rank : c.sus().ranks()) {
        const double used = c.sus().value(rank, Quantity::ClipNormTorch, step).value_or(NAN);
        if (!near(used, c.sus().value(rank, Quantity::GradNorm, step).value_or(NAN), 1e-5))
            return; // not the norm of the rank's gradient
        norms += fmt::format("{}{:.4g}", norms.empty() ? "" : ", ", used);
    }
    // The gradient that the optimizer takes is that of all ranks.
    if (!c.sus().sameOnRanks(Quantity::GradNormClipped, step).value_or(false))
        return;
    Suspicion s = suspect(
        "D3", kSignature + 7, step, "norm used for clipping",
        fmt::format("At step {} every rank clips by the norm of its own gradient ({}), and only then the "
                    "ranks' gradients become equal.",
                    step, norms),
        Quantity::ClipNormTorch);
    s.excluded.push_back(
        {"B8", "the optimizer takes equal gradients on all ranks", Quantity::GradNormClipped, step, -1, {}});
    s.excluded.push_back({"C11", "what is summed was clipped before", Quantity::GradNorm, step, -1, {}});
    out.push_back(std::move(s));
}

// Shards that are each clipped to the limit together are as long as the root of their number times it, and never longer.
void shardsClippedAlone(const Case& c, Suspicions& out)
{
    const double limit = c.ref().traits().clipNorm, longest = std::sqrt(double(c.world())) * limit;
    if (!bothScripts(c) || c.rankByRank() || c.world() < 2 || c.start() < 1 || limit <= 0 ||
        c.sus().traits().clipNorm > 0 || settingOf(c.sus().traits(), "mode") != "fsdp")
        return;
    const int rank = c.sus().ranks().front();
    std::int64_t reached = -1;
    for (const std::int64_t step : c.sus().steps(rank, Quantity::GradNorm)) {
        const double norm = c.sus().value(rank, Quantity::GradNorm, step).value_or(NAN);
        if (!(norm <= longest * (1 + 1e-5)))
            return;
        if (reached < 0 && near(norm, longest, 1e-4))
            reached = step;
    }
    // More ranks have shorter shards: then the limit is never reached, and what the reference shortens stays as it is.
    const std::int64_t start = c.start();
    if (reached < 0 && c.link() == CausalLink::Update &&
        c.ref().value(c.refRank(rank), Quantity::ClipNormTorch, start).value_or(0) > limit) {
        Suspicion s = suspect(
            "D4", kSignature + 2, start, "gradient norm",
            fmt::format(
                "At step {} the reference clips its gradient to {:g}; here it reaches the optimizer as it "
                "is, {:.4g} long, as where a shard alone is held against the limit.",
                start, limit, c.sus().value(rank, Quantity::GradNorm, start).value_or(0)),
            Quantity::GradNorm);
        s.open = true; // or nothing is clipped at all
        s.excluded.push_back(
            {"D7", "the gradient that is updated from is longer", Quantity::GradNorm, start, -1, {}});
        out.push_back(std::move(s));
    }
    if (reached < 0)
        return;
    Suspicion s = suspect(
        "D4", kSignature + 7, c.start(), "gradient norm",
        fmt::format(
            "At step {} the whole gradient is {:.6g} long, the root of {} times the limit {:g} of the "
            "reference, and at no step longer: every rank clips its shard by the shard's norm.",
            reached, c.sus().value(rank, Quantity::GradNorm, reached).value_or(0), c.world(), limit),
        Quantity::GradNorm);
    s.excluded.push_back(
        {"C11", "the length is that of clipped shards", Quantity::GradNorm, reached, -1, {}});
    s.excluded.push_back(
        {"B3", "the factor is not the same at every step", Quantity::GradNorm, reached, -1, {}});
    out.push_back(std::move(s));
}

// A norm whose square was added up over ranks that have the same gradient is the root of their number too long; what is
// clipped by it is as much too short.
void ownNormCountedOften(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (!bothScripts(c) || c.rankByRank() || c.world() < 2 || step < 1 || c.link() != CausalLink::Reduced ||
        !c.scaledAfterReduction(step))
        return;
    const std::optional<Relation> reduced = c.reduced(c.sus().ranks().front(), step);
    if (!reduced || !reduced->proportional(c.precision()) ||
        !near(reduced->ratio, 1 / std::sqrt(double(c.world())), 1e-4))
        return;
    Suspicion s = suspect(
        "D5", kSignature + 7, step, "gradient that reaches the optimizer",
        fmt::format("At step {} the script has shortened the reduced gradient by itself, to {:.6g} of the "
                    "reference's: 1 over the root of {}, the number of ranks.",
                    step, reduced->ratio, c.world()),
        Quantity::GradNorm);
    s.excluded.push_back(
        {"B3", "the factor is not one over the number of ranks", Quantity::GradNorm, step, -1, {}});
    out.push_back(std::move(s));
}

constexpr Rule kRules[] = {clippedBeforeReduction, clippingNorm, clippedBeforeOwnReduction,
                           shardsClippedAlone, ownNormCountedOften};

} // namespace

std::span<const Rule> clippingRules()
{
    return kRules;
}

} // namespace lockstep::align
