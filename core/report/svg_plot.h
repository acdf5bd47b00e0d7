// A small line plot as SVG. Like the window's plots it hides nothing: each pixel column shows the extremes of its samples,
// and each value that is not finite has a mark.
#pragma once

#include "core/report/report.h"

#include <string>

namespace lockstep {

std::string svgPlot(const ReportPlot& plot, int width = 860, int height = 260);

} // namespace lockstep
