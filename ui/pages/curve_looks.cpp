#include "ui/pages/curve_looks.h"

#include <QCoreApplication>
#include <QFontMetrics>

#include <algorithm>
#include <array>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::Curves)
};

constexpr int kNarrowest = 120, kWidest = 184; // of the right margin; the name of the band fits
constexpr int kBesideLabel = 12;

RunRole roleOf(const RunEntry& run)
{
    return run.config.mode == "single" ? RunRole::Baseline
           : run.config.mode == "twin" ? RunRole::Twin
                                       : RunRole::Ranks;
}

std::vector<PlacedRun> inDrawOrder(const std::vector<const RunEntry*>& runs)
{
    std::vector<PlacedRun> ordered = placeRuns(runs);
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const PlacedRun& a, const PlacedRun& b) { return a.role < b.role; });
    return ordered;
}

} // namespace

std::vector<PlacedRun> placeRuns(const std::vector<const RunEntry*>& runs)
{
    const auto count = [&runs](RunRole role) {
        return std::count_if(runs.begin(), runs.end(),
                             [role](const RunEntry* run) { return roleOf(*run) == role; });
    };
    const bool referenceIsBaseline = count(RunRole::Baseline) == 0 && count(RunRole::Ranks) > 1;
    std::vector<PlacedRun> placed;
    int places[3] = {0, 0, 0};
    for (const RunEntry* run : runs) {
        RunRole role = roleOf(*run);
        if (referenceIsBaseline && run == runs.front() && role == RunRole::Ranks)
            role = RunRole::Baseline;
        placed.push_back({run, role, places[int(role)]++});
    }
    return placed;
}

CurveLook lookOf(RunRole role, int place, const PlotTheme& theme)
{
    switch (role) {
    case RunRole::Baseline:
        return place == 0 ? CurveLook{theme.single, CurveStyle::Single}
                          : CurveLook{theme.ink3, CurveStyle::Thin};
    case RunRole::Twin:
        return {theme.twinOver, CurveStyle::Twin};
    case RunRole::Ranks:
        break;
    }
    // The first run of several gets the strongest blue.
    return {theme.rank(std::array{1, 2, 3, 0}[std::size_t(place) % 4]), CurveStyle::Mean};
}

CurvePicture curvesOf(const std::vector<const RunEntry*>& runs, const CurveFeed& feed, Quantity quantity,
                      RankDisplay display, const PlotTheme& theme)
{
    CurvePicture picture;
    for (const auto& [run, role, place] : inDrawOrder(runs)) {
        const RunCurvesPtr curves = feed.run(run->id());
        const CurveLook look = lookOf(role, place, theme);
        const SeriesSnapshot::Ptr mean = curves ? curves->mean(quantity) : nullptr;
        const auto ranks =
            curves && curves->ranks.count(quantity) ? curves->ranks.at(quantity) : std::vector<int>{};
        const bool several = ranks.size() > 1;
        const bool withRanks = several && role == RunRole::Ranks && place == 0;
        CurveSeries line;
        line.label = several ? Tr::tr("%1 mean").arg(run->name()) : run->name();
        line.endLabel = run->name();
        line.color = look.color;
        if (role == RunRole::Twin)
            line.endColor = theme.twinAlone;
        line.style = look.style;
        line.data = mean;
        line.bold = true;
        if (withRanks && display != RankDisplay::Mean) {
            const RankSpread& spread = curves->spread.at(quantity);
            picture.bands.push_back({theme.range, QColor(), spread.min, spread.max, {}});
        }
        picture.series.push_back(std::move(line));
        if (withRanks && display == RankDisplay::All)
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
    const bool againstTwin = std::any_of(runs.begin(), runs.end(), [&feed](const RunEntry* run) {
        return run->id() == feed.reference() && roleOf(*run) == RunRole::Twin;
    });
    CurvePicture picture;
    for (const auto& [run, role, place] : inDrawOrder(runs)) {
        // Beside a twin every bit counts; a single process is another sum, and another function where batches have
        // statistics of their own.
        if (run->id() == feed.reference() || (againstTwin && role == RunRole::Baseline))
            continue;
        CurveLook look = lookOf(role, place, theme);
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

int endLabelMargin(const std::vector<const CurvePicture*>& pictures)
{
    const QFontMetrics metrics(PlotTheme::titleFont());
    int widest = 0;
    for (const CurvePicture* picture : pictures)
        for (const CurveSeries& series : picture->series)
            widest = std::max(widest, metrics.horizontalAdvance(series.endLabel));
    return std::clamp(widest + kBesideLabel, kNarrowest, kWidest);
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
