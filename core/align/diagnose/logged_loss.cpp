#include "core/align/diagnose/logged_loss.h"

#include "core/align/diagnose/relation.h"

#include <algorithm>
#include <cmath>

namespace lockstep::align {

namespace {

constexpr double kShown = 2e-6; // scripts log float32
constexpr std::int64_t kSteps = 16;

} // namespace

// Of the first steps, the first one whose numbers lie apart decides; every one of them has to agree.
std::optional<LoggedLoss> judgeLoggedLoss(const RunTrace& run)
{
    const int world = run.world();
    if (world < 2 || !run.has(Quantity::LossLogged))
        return {};
    const int rank = run.ranks().front();
    std::optional<LoggedLoss> found;
    std::int64_t seen = 0;
    for (const std::int64_t step : run.steps(rank, Quantity::LossLogged)) {
        const auto shown = run.value(rank, Quantity::LossLogged, step);
        const auto own = run.value(rank, Quantity::Loss, step);
        double plain = 0;
        for (const int r : run.ranks())
            plain += run.value(r, Quantity::Loss, step).value_or(NAN) / world;
        const auto weighted = run.lossMean(step);
        if (!shown || !own || !weighted || !std::isfinite(plain) || *own == 0)
            continue;
        if (near(*own, plain, 10 * kShown) && near(*own, *weighted, 10 * kShown))
            continue; // nothing to tell apart here
        LoggedLoss here{LoggedLoss::Mean, step, *shown, plain, *own};
        if (near(*shown, *own, kShown))
            here.form = LoggedLoss::OwnRank;
        else if (near(*shown, plain * world, 4 * kShown) || near(*shown, *weighted * world, 4 * kShown))
            here.form = LoggedLoss::Sum;
        else if (!near(*shown, plain, 4 * kShown) && !near(*shown, *weighted, 4 * kShown))
            return {};
        if (found && found->form != here.form)
            return {};
        if (!found)
            found = here;
        if (++seen == kSteps)
            break;
    }
    return found;
}

} // namespace lockstep::align
