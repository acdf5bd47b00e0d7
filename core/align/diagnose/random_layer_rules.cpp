// Scripts whose random layers or batch statistics make every loss and gradient another one: what still shows through, because
// it is there at every step and far larger than what the draws change.
#include "core/align/diagnose/rules.h"
#include "core/align/diagnose/script_acts.h"

#include <algorithm>
#include <cmath>

namespace lockstep::align {

namespace {

// The middle one of the ratios to the reference over the first steps; NAN: there are too few.
template<typename Ratio>
double median(const Case& c, const Ratio& ratio)
{
    constexpr std::int64_t kSteps = 32, kFewest = 4;
    std::vector<double> ratios;
    for (std::int64_t step = c.start(); step <= std::min(c.lastStep(), c.start() + kSteps - 1); ++step)
        if (const std::optional<double> r = ratio(step); r && std::isfinite(*r) && *r > 0)
            ratios.push_back(*r);
    if (std::int64_t(ratios.size()) < kFewest)
        return NAN;
    std::nth_element(ratios.begin(), ratios.begin() + std::ptrdiff_t(ratios.size() / 2), ratios.end());
    return ratios[ratios.size() / 2];
}

// A loss that is a sum over a rank's share is that share of the reference's, and DDP's mean leaves the gradient as small.
void lossIsASum(const Case& c, Suspicions& out)
{
    constexpr double kLoss = 0.1, kGradient = 0.3; // far from 1 also with two ranks
    const std::int64_t step = c.start();
    if (!bothScripts(c) || c.rankByRank() || c.world() < 2 || step < 1 || c.link() != CausalLink::Forward ||
        !(drawsEachStep(c.sus()) || batchStatistics(c.sus())) || lossScaling(c.ref(), c.sus(), step))
        return;
    const double share = 1.0 / c.world();
    const double loss = median(c, [&](std::int64_t s) { return c.lossRatioMean(s); });
    const double gradient =
        median(c, [&](std::int64_t s) { return c.ratio(c.sus().ranks().front(), Quantity::GradNorm, s); });
    if (!near(loss, share, kLoss) || !near(gradient, share, kGradient))
        return;
    Suspicion s = suspect(
        "B1", kSignature, step, "loss, mean of the ranks",
        fmt::format(
            "It is {:.3g} times the reference's in the middle of the steps, with {} ranks: the loss is "
            "a sum over the samples of a rank.",
            loss, c.world()),
        Quantity::Loss);
    s.evidence.push_back({"norm of the gradient",
                          fmt::format("{:.3g} times the reference's in the middle of the steps, under other "
                                      "random masks or batch statistics",
                                      gradient),
                          Quantity::GradNorm,
                          step,
                          -1,
                          {}});
    s.excluded.push_back(
        {"B3", "the script divides its loss by nothing more than the reference does", {}, step, -1, {}});
    out.push_back(std::move(s));
}

constexpr Rule kRules[] = {lossIsASum};

} // namespace

std::span<const Rule> randomLayerRules()
{
    return kRules;
}

} // namespace lockstep::align
