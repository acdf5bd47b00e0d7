// What the gradient scaler and clipping did on the ranks.
#include "core/gates/gradients_facts.h"
#include "core/gates/precision_checks.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep {

namespace {

// torch's clip_grad_norm_ divides by norm + 1e-6 in float32: what is left can exceed the limit by rounding.
constexpr double kClipRounding = 1e-5;

} // namespace

// A rank that skips a step the others do ends up with other weights.
Status PrecisionChecks::scaler()
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
Status PrecisionChecks::clipping()
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
        if (j == reduced->size() || reduced->steps[j] != clipped->steps[i] ||
            !std::isfinite(clipped->value(i)))
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

} // namespace lockstep
