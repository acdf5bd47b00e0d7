#include "core/align/diagnose/logged_loss.h"

#include "core/align/diagnose/relation.h"

#include <algorithm>
#include <cmath>

namespace lockstep::align {

namespace {

constexpr double kShown = 2e-6; // scripts log float32
constexpr std::int64_t kSteps = 16;

// Half of the last decimal that the script prints; 0: as many as the number has. Of one number alone it cannot be told.
double printedHalf(const RunTrace& run, int rank)
{
    std::int64_t seen = 0;
    int decimals = 0;
    for (const std::int64_t step : run.steps(rank, Quantity::LossLogged)) {
        const double shown = run.value(rank, Quantity::LossLogged, step).value_or(NAN);
        const auto whole = [shown](int places) {
            const double scaled = shown * std::pow(10, places);
            return std::abs(scaled - std::round(scaled)) <= 1e-9 * std::max(1.0, std::abs(scaled));
        };
        while (decimals < 7 && std::isfinite(shown) && !whole(decimals))
            ++decimals;
        if (++seen == kSteps)
            break;
    }
    return decimals < 7 && seen > 2 ? 0.5 * std::pow(10, -decimals) : 0;
}

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
    const double half = 1.001 * printedHalf(run, rank);
    const auto is = [half](double shown, double value, double precision) {
        return near(shown, value, precision) || std::abs(shown - value) <= half;
    };
    for (const std::int64_t step : run.steps(rank, Quantity::LossLogged)) {
        const auto shown = run.value(rank, Quantity::LossLogged, step);
        const auto own = run.value(rank, Quantity::Loss, step);
        double plain = 0;
        for (const int r : run.ranks())
            plain += run.value(r, Quantity::Loss, step).value_or(NAN) / world;
        const auto weighted = run.lossMean(step);
        if (!shown || !own || !weighted || !std::isfinite(plain) || *own == 0)
            continue;
        if ((near(*own, plain, 10 * kShown) || std::abs(*own - plain) <= 2 * half) &&
            (near(*own, *weighted, 10 * kShown) || std::abs(*own - *weighted) <= 2 * half))
            continue; // nothing to tell apart here
        LoggedLoss here{LoggedLoss::Mean, step, *shown, plain, *own};
        if (is(*shown, *own, kShown))
            here.form = LoggedLoss::OwnRank;
        else if (is(*shown, plain * world, 4 * kShown) || is(*shown, *weighted * world, 4 * kShown))
            here.form = LoggedLoss::Sum;
        else if (!is(*shown, plain, 4 * kShown) && !is(*shown, *weighted, 4 * kShown))
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
