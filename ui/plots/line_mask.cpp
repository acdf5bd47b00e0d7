#include "ui/plots/line_mask.h"

#include "ui/plots/pixel_blend.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

long floorLong(double v)
{
    const long towardsZero = static_cast<long>(v);
    return towardsZero - (static_cast<double>(towardsZero) > v ? 1 : 0);
}

// Length of the overlap of [a, b] and [c, c + 1].
double overlap(double a, double b, double c)
{
    return std::max(0.0, std::min(b, c + 1) - std::max(a, c));
}

} // namespace

LineMask::LineMask(long from, long to, long height)
    : from_(from),
      to_(to),
      height_(height),
      coverage_(static_cast<std::size_t>(std::max(0L, to - from) * height), 0),
      dirty_(static_cast<std::size_t>(std::max(0L, to - from)))
{
}

inline void LineMask::add(long column, long row, double share)
{
    std::uint8_t& pixel = coverage_[static_cast<std::size_t>((column - from_) * height_ + row)];
    const int sum = pixel + static_cast<int>(share * 255 + 0.5);
    pixel = static_cast<std::uint8_t>(std::min(255, sum));
    Dirty& dirty = dirty_[static_cast<std::size_t>(column - from_)];
    if (dirty.last < dirty.first) {
        dirty.first = dirty.last = row;
    } else {
        dirty.first = std::min(dirty.first, row);
        dirty.last = std::max(dirty.last, row);
    }
}

inline void LineMask::addRun(long column, double top, double bottom, double share)
{
    top = std::max(top, 0.0);
    bottom = std::min(bottom, static_cast<double>(height_));
    if (!(top < bottom))
        return;
    const long last = std::min(height_ - 1, floorLong(bottom));
    for (long row = floorLong(top); row <= last; ++row)
        add(column, row, share * overlap(top, bottom, static_cast<double>(row)));
}

void LineMask::addSegment(const QLineF& line, double width)
{
    const double dx = line.dx(), dy = line.dy();
    const double length = std::hypot(dx, dy);
    if (!(length > 0))
        return;
    if (std::fabs(dx) >= std::fabs(dy)) {
        const double left = std::min(line.x1(), line.x2()), right = std::max(line.x1(), line.x2());
        const double slope = dy / dx, half = width / 2 * length / std::fabs(dx);
        const long first = std::max(from_, floorLong(std::max(left, -1e9)));
        const long last = std::min(to_ - 1, floorLong(std::min(right, 1e9)));
        for (long c = first; c <= last; ++c) {
            const double share = overlap(left, right, static_cast<double>(c));
            // Height at the middle of the part of this column that the segment crosses.
            const double middle =
                (std::max(left, static_cast<double>(c)) + std::min(right, static_cast<double>(c + 1))) / 2;
            const double y = line.y1() + (middle - line.x1()) * slope;
            addRun(c, y - half, y + half, share);
        }
        return;
    }
    const double top = std::min(line.y1(), line.y2()), bottom = std::max(line.y1(), line.y2());
    const double slope = dx / dy, half = width / 2 * length / std::fabs(dy);
    const long first = std::max(0L, floorLong(std::max(top, -1.0)));
    const long last = std::min(height_ - 1, floorLong(std::min(bottom, static_cast<double>(height_))));
    for (long row = first; row <= last; ++row) {
        const double share = overlap(top, bottom, static_cast<double>(row));
        const double middle =
            (std::max(top, static_cast<double>(row)) + std::min(bottom, static_cast<double>(row + 1))) / 2;
        const double x = line.x1() + (middle - line.y1()) * slope;
        if (x + half < static_cast<double>(from_) || x - half > static_cast<double>(to_))
            continue;
        const long firstColumn = std::max(from_, floorLong(x - half)),
                   lastColumn = std::min(to_ - 1, floorLong(x + half));
        for (long c = firstColumn; c <= lastColumn; ++c)
            add(c, row, share * overlap(x - half, x + half, static_cast<double>(c)));
    }
}

void LineMask::addDisc(const QPointF& middle, double diameter)
{
    const double radius = diameter / 2;
    if (!(std::fabs(middle.x()) < 1e8) || middle.y() < -diameter ||
        middle.y() > static_cast<double>(height_) + diameter)
        return;
    const long firstColumn = std::max(from_, floorLong(middle.x() - radius - 1));
    const long lastColumn = std::min(to_ - 1, floorLong(middle.x() + radius + 1));
    const long firstRow = std::max(0L, floorLong(middle.y() - radius - 1));
    const long lastRow = std::min(height_ - 1, floorLong(middle.y() + radius + 1));
    for (long c = firstColumn; c <= lastColumn; ++c)
        for (long row = firstRow; row <= lastRow; ++row) {
            const double distance = std::hypot(static_cast<double>(c) + 0.5 - middle.x(),
                                               static_cast<double>(row) + 0.5 - middle.y());
            const double share = std::clamp(radius + 0.5 - distance, 0.0, 1.0);
            if (share <= 0)
                continue;
            // The larger of both, not the sum: the disc lies on top of its segments.
            const std::uint8_t have = coverage_[static_cast<std::size_t>((c - from_) * height_ + row)];
            const double missing = share - have / 255.0;
            if (missing > 0)
                add(c, row, missing);
        }
}

void LineMask::paint(QImage& image, QRgb premultiplied)
{
    QRgb* const bits = reinterpret_cast<QRgb*>(image.bits());
    const std::size_t stride = static_cast<std::size_t>(image.bytesPerLine()) / 4;
    for (long c = from_; c < to_; ++c) {
        Dirty& dirty = dirty_[static_cast<std::size_t>(c - from_)];
        std::uint8_t* const column = &coverage_[static_cast<std::size_t>((c - from_) * height_)];
        for (long row = dirty.first; row <= dirty.last; ++row) {
            if (column[row] == 0)
                continue;
            // 255 steps of coverage to the 256 of blend().
            const unsigned share = column[row] + (column[row] >> 7);
            blend(bits[static_cast<std::size_t>(row) * stride + static_cast<std::size_t>(c)], premultiplied,
                  share);
            column[row] = 0;
        }
        dirty = {};
    }
}

} // namespace lockstep
