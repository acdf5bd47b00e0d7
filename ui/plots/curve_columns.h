// The drawing rules of curve_raster.h in their parts: which rows a curve covers in each pixel column, and how
// rows become pixels. The tests combine the same parts with a search through every sample.
#pragma once

#include "ui/plots/curve_raster.h"
#include "ui/plots/line_mask.h"

#include <QLineF>
#include <QPointF>

#include <utility>

namespace lockstep {

// The rows that a curve covers in one column, before the width of the pen; top > bottom: nothing.
struct ColumnInterval {
    double top = 1, bottom = 0;
    bool empty() const { return !(top <= bottom); }
    void add(double y)
    {
        if (empty()) {
            top = bottom = y;
            return;
        }
        top = y < top ? y : top;
        bottom = y > bottom ? y : bottom;
    }
};

enum ColumnFlag : unsigned char { NonFiniteInColumn = 1, NonPositiveInColumn = 2 };

// One dense curve at one viewport. Columns reach from -margin to width + margin, for pens wider than a pixel.
struct CurveColumns {
    long margin = 0;
    std::vector<ColumnInterval> intervals;
    std::vector<unsigned char> flags; // ColumnFlag, same columns

    CurveColumns() = default;
    CurveColumns(int width, long margin);
    ColumnInterval& at(long column) { return intervals[static_cast<std::size_t>(column + margin)]; }
    const ColumnInterval& at(long column) const
    {
        return intervals[static_cast<std::size_t>(column + margin)];
    }
};

// One sparse curve: its line (or the dashes of it) in segments, in device pixels.
struct CurveLines {
    std::vector<QLineF> segments;
};

// Device pixels around the image that lines are followed into: pens and joins of lines outside reach inside.
inline constexpr long kLineMargin = 64;
// Dashes begin anew at every such sample, so that panning does not make them crawl.
inline constexpr std::size_t kDashRestart = 64;

using LoneSamples = std::vector<QPointF>; // rule 3, in device pixels

// Columns beside one that a pen of this width reaches into.
long penReach(double width);
// First sample in [hint, size] whose column is >= `column`.
std::size_t firstSample(const SeriesSnapshot& data, const PlotMapping& map, long column,
                        std::size_t hint = 0);
// Most samples that a curve may have in view, line margins included, to be drawn as a line.
std::size_t sparseLimit(const RasterScene& scene, const PlotMapping& map);
bool isSparse(const SeriesSnapshot& data, const PlotMapping& map, std::size_t limit);

// Rule 2: the part of the line from (stepA, a) to (stepB, b) inside the columns [from, to).
void addLine(CurveColumns& columns, const PlotMapping& map, double stepA, double a, double stepB, double b,
             long from, long to);
// Rules 1 to 4 for the columns [from, to) of a dense curve, from pyramid nodes.
void fillColumns(CurveColumns& columns, LoneSamples& lone, const SeriesSnapshot& data, const PlotMapping& map,
                 long from, long to);
// The line of a sparse curve through the samples [begin, end), its lone samples, and the flags of its
// columns.
void traceLines(CurveLines& lines, LoneSamples& lone, std::vector<unsigned char>& flags,
                const SeriesSnapshot& data, const PlotMapping& map, const RasterPen& pen, std::size_t begin,
                std::size_t end);

// Painting, clipped to the columns [from, to) of the image.
void paintColumns(QImage& image, const CurveColumns& columns, const RasterPen& pen, const PlotMapping& map,
                  long from, long to);
void paintLines(LineMask& mask, QImage& image, const CurveLines& lines,
                const RasterPen& pen); // columns of the mask
void paintBand(QImage& image, const CurveColumns& upper, const CurveColumns& lower, QRgb fill, long from,
               long to);
void paintLone(QImage& image, const LoneSamples& lone, const RasterPen& pen, double scale, long from,
               long to);
void paintFlags(QImage& image, const std::vector<unsigned char>& flags, const RasterScene& scene, long from,
                long to);

} // namespace lockstep
