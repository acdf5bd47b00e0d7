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

enum class RunRole { Baseline, Ranks, Twin };

struct PlacedRun {
    const RunEntry* run = nullptr;
    RunRole role = RunRole::Ranks;
    int place = 0; // how many runs of the same role come before it
};

// In the order given, the reference first. Where none of several distributed runs has a single process to stand against,
// the reference is the baseline, so that A and B never are two similar blues.
std::vector<PlacedRun> placeRuns(const std::vector<const RunEntry*>& runs);
CurveLook lookOf(RunRole role, int place, const PlotTheme& theme);

struct CurvePicture {
    std::vector<CurveSeries> series;
    std::vector<CurveBand> bands;
};

// One quantity of all runs in draw order: baselines, then DDP with spread and ranks, then twins.
CurvePicture curvesOf(const std::vector<const RunEntry*>& runs, const CurveFeed& feed, Quantity quantity,
                      RankDisplay display, const PlotTheme& theme);
// Differences to the reference of the feed; single runs are left out where that is a twin.
CurvePicture deltasOf(const std::vector<const RunEntry*>& runs, const CurveFeed& feed,
                      const PlotTheme& theme);
// Room at the right for the names at the ends of the curves; long ones are cut in the middle.
int endLabelMargin(const std::vector<const CurvePicture*>& pictures);
// Where the comparison was judged by a measured envelope: its limits around zero. Else none.
std::vector<CurveBand> toleranceBands(const RunComparison* comparison, const PlotTheme& theme);

} // namespace lockstep
