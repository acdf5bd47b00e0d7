// Rows to pixels: the painting half of curve_columns.h.
#include "ui/plots/curve_columns.h"

#include "ui/plots/line_mask.h"
#include "ui/plots/pixel_blend.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

struct Pixels {
    explicit Pixels(QImage& image)
        : bits(reinterpret_cast<QRgb*>(image.bits())),
          stride(static_cast<std::size_t>(image.bytesPerLine()) / 4),
          width(image.width()),
          height(image.height())
    {
    }
    QRgb* at(long column, long row) { return bits + static_cast<std::size_t>(row) * stride + column; }

    QRgb* bits;
    std::size_t stride;
    long width, height;
};

// Rows [top, bottom) of one column; the first and last pixel by their share.
void paintStretch(Pixels& pixels, long column, double top, double bottom, QRgb color)
{
    top = std::max(top, 0.0);
    bottom = std::min(bottom, static_cast<double>(pixels.height));
    if (!(top < bottom))
        return;
    const long first = static_cast<long>(top);
    const long last = std::min(pixels.height - 1, static_cast<long>(bottom));
    const auto share = [](double part) { return static_cast<unsigned>(part * 256 + 0.5); };
    if (first == last) {
        blend(*pixels.at(column, first), color, share(bottom - top));
        return;
    }
    blend(*pixels.at(column, first), color, share(static_cast<double>(first + 1) - top));
    QRgb* pixel = pixels.at(column, first + 1);
    if (qAlpha(color) == 255) {
        for (long row = first + 1; row < last; ++row, pixel += pixels.stride)
            *pixel = color;
    } else {
        for (long row = first + 1; row < last; ++row, pixel += pixels.stride)
            blend(*pixel, color, 256);
    }
    blend(*pixels.at(column, last), color, share(bottom - static_cast<double>(last)));
}

void paintBox(Pixels& pixels, long left, long top, long right, long bottom, QRgb color, long from, long to)
{
    for (long row = std::max(0L, top); row <= std::min(pixels.height - 1, bottom); ++row)
        for (long column = std::max(from, left); column <= std::min(to - 1, right); ++column)
            *pixels.at(column, row) = color;
}

void paintDiamond(Pixels& pixels, long column, long radius, QRgb color, long from, long to)
{
    const long middle = pixels.height - 1 - radius;
    for (long d = -radius; d <= radius; ++d) {
        const long half = radius - std::labs(d);
        paintBox(pixels, column - half, middle + d, column + half, middle + d, color, from, to);
    }
}

QRgb opaque(QRgb color)
{
    return color | 0xff000000u;
}

} // namespace

void paintColumns(QImage& image, const CurveColumns& columns, const RasterPen& pen, const PlotMapping& map,
                  long from, long to)
{
    Pixels pixels(image);
    const QRgb color = qPremultiply(pen.color);
    const double half = std::max(pen.width, 1.0) / 2;
    const long reach = std::min(penReach(pen.width), columns.margin);
    const double period = pen.dashOn + pen.dashOff;
    const double origin = pen.dashOn > 0 ? std::floor(map.px(0)) : 0;
    // A round pen: the neighbour column at distance d covers this much above and below its rows here.
    std::vector<double> cover(static_cast<std::size_t>(reach) + 1);
    for (long d = 0; d <= reach; ++d)
        cover[static_cast<std::size_t>(d)] = std::sqrt(half * half - static_cast<double>(d * d));
    const auto shown = [&](long column) {
        const ColumnInterval& interval = columns.at(column);
        if (interval.empty())
            return false;
        if (pen.dashOn <= 0 || interval.bottom - interval.top > 2 * pen.width + 2)
            return true;
        const double at = std::fmod(static_cast<double>(column) - origin, period);
        return (at < 0 ? at + period : at) < pen.dashOn;
    };
    std::vector<std::pair<double, double>> stretches;
    for (long c = from; c < to; ++c) {
        if (reach == 0) {
            if (shown(c))
                paintStretch(pixels, c, columns.at(c).top - half, columns.at(c).bottom + half, color);
            continue;
        }
        // The stretches of all columns in reach, merged, so that nothing is blended twice.
        stretches.clear();
        for (long d = -reach; d <= reach; ++d) {
            if (!shown(c + d))
                continue;
            const double around = cover[static_cast<std::size_t>(std::labs(d))];
            stretches.emplace_back(columns.at(c + d).top - around, columns.at(c + d).bottom + around);
        }
        std::sort(stretches.begin(), stretches.end());
        for (std::size_t i = 0; i < stretches.size();) {
            auto [top, bottom] = stretches[i++];
            while (i < stretches.size() && stretches[i].first <= bottom)
                bottom = std::max(bottom, stretches[i++].second);
            paintStretch(pixels, c, top, bottom, color);
        }
    }
}

void paintLines(LineMask& mask, QImage& image, const CurveLines& lines, const RasterPen& pen)
{
    const double width = std::max(pen.width, 1.0);
    for (const QLineF& segment : lines.segments)
        mask.addSegment(segment, width);
    if (width >= 1.5 && pen.dashOn <= 0)
        for (const QLineF& segment : lines.segments) {
            mask.addDisc(segment.p1(), width);
            mask.addDisc(segment.p2(), width);
        }
    mask.paint(image, qPremultiply(pen.color));
}

void paintBand(QImage& image, const CurveColumns& upper, const CurveColumns& lower, QRgb fill, long from,
               long to)
{
    Pixels pixels(image);
    const QRgb color = qPremultiply(fill);
    for (long c = from; c < to; ++c)
        if (!upper.at(c).empty() && !lower.at(c).empty())
            paintStretch(pixels, c, upper.at(c).top, lower.at(c).bottom, color);
}

void paintLone(QImage& image, const LoneSamples& lone, const RasterPen& pen, double scale, long from, long to)
{
    Pixels pixels(image);
    const long radius = std::max(1L, std::lround((std::max(3 * scale, pen.width + 2 * scale) - 1) / 2));
    for (const QPointF& sample : lone) {
        const long column = static_cast<long>(sample.x()), row = PlotMapping::row(sample.y());
        paintBox(pixels, column - radius, row - radius, column + radius, row + radius, opaque(pen.color),
                 from, to);
    }
}

void paintFlags(QImage& image, const std::vector<unsigned char>& flags, const RasterScene& scene, long from,
                long to)
{
    Pixels pixels(image);
    const long large = std::max(2L, std::lround(3 * scene.scale)),
               small = std::max(1L, std::lround(2 * scene.scale));
    const long begin = std::max(0L, from - large);
    const long end = std::min(static_cast<long>(flags.size()), to + large);
    for (long c = begin; c < end; ++c)
        if (flags[static_cast<std::size_t>(c)] & NonPositiveInColumn)
            paintDiamond(pixels, c, small, opaque(scene.nonPositive), from, to);
    for (long c = begin; c < end; ++c)
        if (flags[static_cast<std::size_t>(c)] & NonFiniteInColumn)
            paintDiamond(pixels, c, large, opaque(scene.nonFinite), from, to);
}

} // namespace lockstep
