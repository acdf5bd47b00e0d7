// What a picture of series at one viewport is, and how it is made from snapshots. No widget and no
// QCustomPlot.
//
// Rules, in device pixels:
//  1. A pixel column draws from the largest to the smallest finite value of the samples that fall into it.
//  2. Two neighbouring finite samples in different columns are joined by a straight line.
//  3. A finite sample that is joined to nothing and alone in its column gets a square mark: a lone value
//  between NaNs
//     stays visible.
//  4. A column with any NaN or infinity gets a diamond at the bottom edge; on a log axis, a column with a
//  value <= 0
//     gets a smaller one. Marks and diamonds lie above all curves.
// A curve with few samples ("sparse", at most one per column) is drawn as an antialiased line through all of
// them, with a mark at each one that is joined to nothing; that keeps the rules. A denser one is drawn from
// its columns, with antialiased upper and lower ends. Dashes leave gaps only where a dense curve is flat, so
// a gap never hides a spike. The picture does not depend on the number of threads.
#pragma once

#include "ui/plots/plot_mapping.h"
#include "ui/plots/series_snapshot.h"

#include <QImage>

#include <vector>

namespace lockstep {

struct RasterPen {
    QRgb color = 0;    // straight alpha
    double width = 1;  // device pixels, as are the next two
    double dashOn = 0; // 0: solid
    double dashOff = 0;
};

struct RasterCurve {
    SeriesSnapshot::Ptr data; // not null
    RasterPen pen;
};

struct RasterBand {
    SeriesSnapshot::Ptr lower, upper; // not null
    QRgb fill = 0;
    RasterPen edge = {}; // alpha 0: none
};

struct RasterScene {
    std::vector<RasterBand> bands; // below all curves
    std::vector<RasterCurve> curves;
    QRgb nonFinite = 0xffb3261e; // diamonds of rule 4
    QRgb nonPositive = 0xff626a75;
    double scale = 1; // device pixels per logical pixel, for the size of marks
};

// Draws the scene into `image` (ARGB32_Premultiplied, of the mapping's size, cleared here) with at most
// `threads` threads, the calling one included; the others come from the global thread pool.
void renderCurves(const RasterScene& scene, const PlotMapping& map, QImage& image, int threads);

// One for small frames, else `most`.
int threadsFor(const RasterScene& scene, const PlotMapping& map, int most);

} // namespace lockstep
