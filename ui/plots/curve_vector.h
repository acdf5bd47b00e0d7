// The curves of a scene as lines instead of pixels, for SVG. Follows the raster's rule: each pixel column keeps its extremes,
// lines break at values that are not finite, and each column with one gets a mark. Private to ui/plots.
#pragma once

#include "ui/plots/curve_raster.h"

#include <QPainter>

namespace lockstep {

// `map` in logical pixels; the plot area begins at `origin`.
void paintVector(QPainter& painter, const RasterScene& scene, const PlotMapping& map, QPointF origin);

} // namespace lockstep
