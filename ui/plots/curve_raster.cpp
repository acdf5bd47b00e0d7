#include "ui/plots/curve_raster.h"

#include "ui/plots/curve_columns.h"
#include "ui/plots/parallel_for.h"

#include <algorithm>
#include <optional>

namespace lockstep {

namespace {

struct Prepared {
    const SeriesSnapshot* data = nullptr;
    RasterPen pen;
    bool sparse = false;
    CurveColumns columns;
    CurveLines lines;
    std::vector<unsigned char> flags; // of a sparse curve
    std::vector<LoneSamples> lone;    // one list per column range
};

Prepared prepared(const SeriesSnapshot& data, const RasterPen& pen, bool sparse, const PlotMapping& map,
                  int ranges)
{
    Prepared result;
    result.data = &data;
    result.pen = pen;
    result.sparse = sparse;
    result.lone.resize(static_cast<std::size_t>(ranges));
    if (!sparse)
        result.columns = CurveColumns(map.width(), penReach(pen.width));
    else
        result.flags.assign(static_cast<std::size_t>(map.width()), 0);
    return result;
}

void trace(Prepared& curve, const PlotMapping& map)
{
    const SeriesSnapshot& data = *curve.data;
    std::size_t begin = firstSample(data, map, -kLineMargin);
    const std::size_t end =
        std::min(data.size(), firstSample(data, map, map.width() + kLineMargin, begin) + 1);
    begin = begin > 0 ? begin - 1 : 0;
    if (curve.pen.dashOn > 0)
        begin = begin / kDashRestart * kDashRestart;
    traceLines(curve.lines, curve.lone[0], curve.flags, data, map, curve.pen, begin, end);
}

// About how many values and nodes a frame has to look at. Below the limit (about 2 ms) a second thread costs more than it
// brings: on a busy machine the frame would wait for it to be scheduled.
constexpr double kLooksForOneThread = 100000;

double looksPerFrame(const RasterScene& scene, const PlotMapping& map)
{
    double looks = 0;
    const auto add = [&](const SeriesSnapshot& data) {
        const std::size_t begin = data.lowerBound(map.x0());
        const double inView = static_cast<double>(data.lowerBound(map.x1(), begin) - begin);
        looks += std::min(inView, 32.0 * map.width()) + map.width() / 4.0;
    };
    for (const RasterBand& band : scene.bands) {
        add(*band.lower);
        add(*band.upper);
    }
    for (const RasterCurve& curve : scene.curves)
        add(*curve.data);
    return looks;
}

} // namespace

int threadsFor(const RasterScene& scene, const PlotMapping& map, int most)
{
    return looksPerFrame(scene, map) < kLooksForOneThread ? 1 : most;
}

void renderCurves(const RasterScene& scene, const PlotMapping& map, QImage& image, int threads)
{
    const long width = map.width();
    const int ranges = threads > 1 ? 2 * threads : 1;
    const std::size_t limit = sparseLimit(scene, map);

    std::vector<Prepared> fills; // upper, lower of each band
    std::vector<Prepared> curves;
    const auto addCurve = [&](const SeriesSnapshot& data, const RasterPen& pen) {
        curves.push_back(prepared(data, pen, isSparse(data, map, limit), map, ranges));
    };
    for (const RasterBand& band : scene.bands) {
        fills.push_back(prepared(*band.upper, {}, false, map, ranges));
        fills.push_back(prepared(*band.lower, {}, false, map, ranges));
        if (qAlpha(band.edge.color) > 0) {
            addCurve(*band.upper, band.edge);
            addCurve(*band.lower, band.edge);
        }
    }
    for (const RasterCurve& curve : scene.curves)
        addCurve(*curve.data, curve.pen);

    std::vector<Prepared*> all;
    for (Prepared& fill : fills)
        all.push_back(&fill);
    for (Prepared& curve : curves)
        all.push_back(&curve);
    parallelFor(static_cast<int>(all.size()) * ranges, threads, [&](int task) {
        Prepared& curve = *all[static_cast<std::size_t>(task / ranges)];
        const int range = task % ranges;
        if (curve.sparse) {
            if (range == 0)
                trace(curve, map);
            return;
        }
        const long margin = curve.columns.margin, total = width + 2 * margin;
        fillColumns(curve.columns, curve.lone[static_cast<std::size_t>(range)], *curve.data, map,
                    total * range / ranges - margin, total * (range + 1) / ranges - margin);
    });

    std::vector<unsigned char> flags(static_cast<std::size_t>(width), 0);
    for (const Prepared& curve : curves) {
        const unsigned char* own =
            curve.sparse ? curve.flags.data() : curve.columns.flags.data() + curve.columns.margin;
        for (std::size_t c = 0; c < flags.size(); ++c)
            flags[c] |= own[c];
    }

    uchar* const bits = image.bits();
    const qsizetype bytesPerLine = image.bytesPerLine();
    parallelFor(ranges, threads, [&](int range) {
        const long from = width * range / ranges, to = width * (range + 1) / ranges;
        std::optional<LineMask> mask;
        // Each range paints through an image of its own over the same memory.
        QImage part(bits, map.width(), map.height(), bytesPerLine, QImage::Format_ARGB32_Premultiplied);
        for (int row = 0; row < map.height(); ++row) {
            QRgb* line = reinterpret_cast<QRgb*>(bits + row * bytesPerLine);
            std::fill(line + from, line + to, 0u);
        }
        for (std::size_t b = 0; b < scene.bands.size(); ++b)
            paintBand(part, fills[2 * b].columns, fills[2 * b + 1].columns, scene.bands[b].fill, from, to);
        for (const Prepared& curve : curves) {
            if (curve.sparse) {
                if (!mask)
                    mask.emplace(from, to, map.height());
                paintLines(*mask, part, curve.lines, curve.pen);
            } else {
                paintColumns(part, curve.columns, curve.pen, map, from, to);
            }
        }
        for (const Prepared& curve : curves)
            for (const LoneSamples& lone : curve.lone)
                paintLone(part, lone, curve.pen, scene.scale, from, to);
        paintFlags(part, flags, scene, from, to);
    });
}

} // namespace lockstep
