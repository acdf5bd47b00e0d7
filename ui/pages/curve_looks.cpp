#include "ui/pages/curve_looks.h"

#include <QCoreApplication>

#include <algorithm>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::Curves)
};

int kind(const RunEntry& run)
{
    return run.config.mode == "single" ? 0 : run.config.mode == "twin" ? 2 : 1;
}

// Runs with their place among runs of the same kind, in draw order.
std::vector<std::pair<const RunEntry*, int>> inDrawOrder(const std::vector<const RunEntry*>& runs)
{
    std::vector<std::pair<const RunEntry*, int>> ordered;
    for (int wanted = 0; wanted < 3; ++wanted) {
        int place = 0;
        for (const RunEntry* run : runs)
            if (kind(*run) == wanted)
                ordered.emplace_back(run, place++);
    }
    return ordered;
}

} // namespace

CurveLook lookOf(const RunEntry& run, int place, const PlotTheme& theme)
{
    switch (kind(run)) {
    case 0:
        return place == 0 ? CurveLook{theme.single, CurveStyle::Single}
                          : CurveLook{theme.ink3, CurveStyle::Thin};
    case 2:
        return {theme.twinOver, CurveStyle::Twin};
    default:
        // The first run of several gets the strongest blue.
        return {theme.rank(std::array{1, 2, 3, 0}[std::size_t(place) % 4]), CurveStyle::Mean};
    }
}

CurvePicture curvesOf(const std::vector<const RunEntry*>& runs, const CurveFeed& feed, Quantity quantity,
                      RankDisplay display, const PlotTheme& theme)
{
    CurvePicture picture;
    for (const auto& [run, place] : inDrawOrder(runs)) {
        const RunCurvesPtr curves = feed.run(run->id());
        const CurveLook look = lookOf(*run, place, theme);
        const SeriesSnapshot::Ptr mean = curves ? curves->mean(quantity) : nullptr;
        const auto ranks =
            curves && curves->ranks.count(quantity) ? curves->ranks.at(quantity) : std::vector<int>{};
        const bool several = ranks.size() > 1;
        CurveSeries line;
        line.label = several ? Tr::tr("%1 mean").arg(run->name()) : run->name();
        line.endLabel = run->name();
        line.color = look.color;
        line.style = look.style;
        line.data = mean;
        line.bold = true;
        if (several && display != RankDisplay::Mean && place == 0) {
            const RankSpread& spread = curves->spread.at(quantity);
            picture.bands.push_back({theme.range, QColor(), spread.min, spread.max, {}});
        }
        picture.series.push_back(std::move(line));
        if (several && display == RankDisplay::All && place == 0)
            for (const int rank : ranks)
                picture.series.push_back({Tr::tr("rank %1").arg(rank),
                                          theme.rank(rank),
                                          CurveStyle::Rank,
                                          curves->rank(quantity, rank),
                                          {}});
    }
    return picture;
}

CurvePicture deltasOf(const std::vector<const RunEntry*>& runs, const CurveFeed& feed, const PlotTheme& theme)
{
    CurvePicture picture;
    for (const auto& [run, place] : inDrawOrder(runs)) {
        if (run->id() == feed.reference())
            continue;
        CurveLook look = lookOf(*run, place, theme);
        if (look.style == CurveStyle::Twin)
            look.color = theme.twinAlone;
        if (look.style == CurveStyle::Single)
            look.style = CurveStyle::Thin;
        CurveSeries line;
        line.label = run->name();
        line.endLabel = run->name();
        line.color = look.color;
        line.style = look.style;
        line.data = feed.delta(run->id());
        line.signedValue = true;
        line.bold = place == 0;
        picture.series.push_back(std::move(line));
    }
    return picture;
}

std::vector<CurveBand> toleranceBands(const RunComparison* comparison, const PlotTheme& theme)
{
    if (!comparison || comparison->bandSteps.empty())
        return {};
    std::vector<double> below;
    for (const double limit : comparison->bandLimits)
        below.push_back(-limit);
    return {{theme.tolerance, theme.toleranceEdge, SeriesSnapshot::fromSteps(comparison->bandSteps, below),
             SeriesSnapshot::fromSteps(comparison->bandSteps, comparison->bandLimits),
             Tr::tr("tolerance, %1 repeats").arg(comparison->repeats)}};
}

} // namespace lockstep
