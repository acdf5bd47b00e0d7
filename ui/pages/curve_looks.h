// How runs look in every plot: the baseline thick and dark, DDP blue with its ranks, a twin dashed on top.
#pragma once

#include "ui/models/comparison_model.h"
#include "ui/models/project_snapshot.h"
#include "ui/pages/curve_feed.h"
#include "ui/plots/curve_view.h"

namespace lockstep {

enum class RankDisplay { Mean, Spread, All };

struct CurveLook {
    QColor color;
    CurveStyle style = CurveStyle::Mean;
};

// `place`: how many runs of the same kind come before it.
CurveLook lookOf(const RunEntry& run, int place, const PlotTheme& theme);

struct CurvePicture {
    std::vector<CurveSeries> series;
    std::vector<CurveBand> bands;
};

// One quantity of all runs in draw order: baselines, then DDP with spread and ranks, then twins.
CurvePicture curvesOf(const std::vector<const RunEntry*>& runs, const CurveFeed& feed, Quantity quantity,
                      RankDisplay display, const PlotTheme& theme);
// Differences to the reference of the feed.
CurvePicture deltasOf(const std::vector<const RunEntry*>& runs, const CurveFeed& feed,
                      const PlotTheme& theme);
// Where the comparison was judged by a measured envelope: its limits around zero. Else none.
std::vector<CurveBand> toleranceBands(const RunComparison* comparison, const PlotTheme& theme);

} // namespace lockstep
