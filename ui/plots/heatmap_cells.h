// What each pixel column of a heat map row shows. No widget.
#pragma once

#include "ui/plots/plot_mapping.h"
#include "ui/plots/series_snapshot.h"

#include <vector>

namespace lockstep {

struct HeatCell {
    bool recorded = false; // any sample here
    bool bad = false;      // any NaN or infinity
    double largest = 0;    // largest |value| of the finite samples

    void add(const HeatCell& other)
    {
        recorded = recorded || other.recorded;
        bad = bad || other.bad;
        largest = other.largest > largest ? other.largest : largest;
    }
};

// One cell per pixel column. A column takes all samples whose step lies nearest to it; where steps are wider than a
// column, a sample fills half the way to its neighbours (half the usual distance at gaps), so that gaps stay gaps.
std::vector<HeatCell> heatCells(const SeriesSnapshot& data, const PlotMapping& map);

// Stretches [first, last] of columns beyond the limit; those less than `join` columns apart become one.
std::vector<std::pair<int, int>> stretchesBeyond(const std::vector<HeatCell>& cells, double limit, int join);

// 0 to 5 for |value| within the limit in six equal bins, 6 beyond it.
int heatBin(double size, double limit);

} // namespace lockstep
