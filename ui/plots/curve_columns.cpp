#include "ui/plots/curve_columns.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

// Liang-Barsky. False: nothing of the line lies inside. A line inside is left as it is, bit for bit.
bool clipLine(QPointF& a, QPointF& b, double left, double top, double right, double bottom)
{
    const double dx = b.x() - a.x(), dy = b.y() - a.y();
    double t0 = 0, t1 = 1;
    const double p[4] = {-dx, dx, -dy, dy};
    const double q[4] = {a.x() - left, right - a.x(), a.y() - top, bottom - a.y()};
    for (int i = 0; i < 4; ++i) {
        if (p[i] == 0) {
            if (q[i] < 0)
                return false;
            continue;
        }
        const double t = q[i] / p[i];
        if (p[i] < 0)
            t0 = std::max(t0, t);
        else
            t1 = std::min(t1, t);
    }
    if (t0 > t1)
        return false;
    const QPointF start = a;
    if (t1 < 1)
        b = QPointF(start.x() + t1 * dx, start.y() + t1 * dy);
    if (t0 > 0)
        a = QPointF(start.x() + t0 * dx, start.y() + t0 * dy);
    return true;
}

} // namespace

CurveColumns::CurveColumns(int width, long margin_)
    : margin(margin_),
      intervals(static_cast<std::size_t>(width + 2 * margin_)),
      flags(static_cast<std::size_t>(width + 2 * margin_), 0)
{
}

long penReach(double width)
{
    return std::max(0L, static_cast<long>(std::ceil(width / 2)) - 1);
}

std::size_t firstSample(const SeriesSnapshot& data, const PlotMapping& map, long column, std::size_t hint)
{
    const std::size_t n = data.size();
    const auto columnOf = [&](std::size_t i) { return map.column(static_cast<double>(data.step(i))); };
    if (hint >= n || columnOf(hint) >= column)
        return hint;
    // The step at the column's left edge is right but for rounding; the loops settle it.
    std::size_t i = std::max(hint, data.lowerBound(map.stepAt(static_cast<double>(column)), hint));
    while (i > hint && columnOf(i - 1) >= column)
        --i;
    while (i < n && columnOf(i) < column)
        ++i;
    return i;
}

std::size_t sparseLimit(const RasterScene& scene, const PlotMapping& map)
{
    // An antialiased segment costs up to 1 us, so this bounds a frame however many curves there are.
    constexpr std::size_t kSegmentsPerFrame = 24000;
    const std::size_t curves = std::max<std::size_t>(1, scene.curves.size() + 2 * scene.bands.size());
    return std::min(static_cast<std::size_t>(map.width()), kSegmentsPerFrame / curves);
}

bool isSparse(const SeriesSnapshot& data, const PlotMapping& map, std::size_t limit)
{
    const std::size_t begin = firstSample(data, map, -kLineMargin);
    return firstSample(data, map, map.width() + kLineMargin, begin) - begin <= limit;
}

void addLine(CurveColumns& columns, const PlotMapping& map, double stepA, double a, double stepB, double b,
             long from, long to)
{
    const double xa = map.px(stepA), xb = map.px(stepB);
    const double ya = map.py(a), slope = (map.py(b) - ya) / (xb - xa);
    const long last = std::min(to - 1, map.column(stepB));
    for (long c = std::max(from, map.column(stepA)); c <= last; ++c) {
        ColumnInterval& interval = columns.at(c);
        interval.add(ya + (std::max(xa, static_cast<double>(c)) - xa) * slope);
        interval.add(ya + (std::min(xb, static_cast<double>(c + 1)) - xa) * slope);
    }
}

void fillColumns(CurveColumns& columns, LoneSamples& lone, const SeriesSnapshot& data, const PlotMapping& map,
                 long from, long to)
{
    const std::size_t n = data.size();
    const auto stepOf = [&](std::size_t i) { return static_cast<double>(data.step(i)); };
    // The line from sample i - 1 to sample i, if both are finite.
    const auto join = [&](std::size_t i) {
        if (i == 0 || i >= n)
            return false;
        const double a = data.value(i - 1), b = data.value(i);
        if (!std::isfinite(a) || !std::isfinite(b))
            return false;
        addLine(columns, map, stepOf(i - 1), a, stepOf(i), b, from, to);
        return true;
    };
    std::size_t begin = firstSample(data, map, from);
    bool entering = join(begin);
    while (begin < n) {
        const long column = map.column(stepOf(begin));
        if (column >= to)
            break;
        const std::size_t end = firstSample(data, map, column + 1, begin);
        const SeriesNode node = data.query(begin, end);
        const bool leaving = join(end);
        if (!node.empty()) {
            columns.at(column).add(map.py(node.hi));
            columns.at(column).add(map.py(node.lo));
            if (end - begin - node.bad == 1 && !entering && !leaving)
                lone.emplace_back(static_cast<double>(column), map.py(node.hi));
        }
        auto& flags = columns.flags[static_cast<std::size_t>(column + columns.margin)];
        if (node.bad > 0)
            flags |= NonFiniteInColumn;
        if (map.transform().scale == YScale::Log && !node.empty() && node.lo <= 0)
            flags |= NonPositiveInColumn;
        begin = end;
        entering = leaving;
    }
}

void traceLines(CurveLines& lines, LoneSamples& lone, std::vector<unsigned char>& flags,
                const SeriesSnapshot& data, const PlotMapping& map, const RasterPen& pen, std::size_t begin,
                std::size_t end)
{
    const double right = map.width() + kLineMargin, bottom = map.height() + kLineMargin;
    const double period = pen.dashOn + pen.dashOff;
    const bool dashed = pen.dashOn > 0;
    const auto finite = [&](std::size_t i) { return i < data.size() && std::isfinite(data.value(i)); };
    double phase = 0;
    QPointF previous;
    bool joined = false; // previous sample is finite and was seen
    for (std::size_t i = begin; i < end; ++i) {
        const double value = data.value(i), step = static_cast<double>(data.step(i));
        const long column = map.column(step);
        const bool inside = column >= 0 && column < map.width();
        if (!std::isfinite(value)) {
            if (inside)
                flags[static_cast<std::size_t>(column)] |= NonFiniteInColumn;
            joined = false;
            phase = 0;
            continue;
        }
        if (inside && map.transform().scale == YScale::Log && value <= 0)
            flags[static_cast<std::size_t>(column)] |= NonPositiveInColumn;
        const QPointF point(PlotMapping::clampPx(map.px(step)), map.py(value));
        if (!joined && !(i > 0 && finite(i - 1)) && !finite(i + 1) && inside)
            lone.emplace_back(static_cast<double>(column), point.y());
        if (joined && !dashed) {
            const double above = -pen.width - 2, below = map.height() + pen.width + 2;
            if (std::max(previous.y(), point.y()) >= above && std::min(previous.y(), point.y()) <= below)
                lines.segments.emplace_back(previous, point);
        } else if (joined) {
            QPointF a = previous, b = point;
            const double length = std::hypot(point.x() - previous.x(), point.y() - previous.y());
            if (length > 0 && clipLine(a, b, -kLineMargin, -kLineMargin, right, bottom)) {
                const QPointF unit = (point - previous) / length;
                double at = std::hypot(a.x() - previous.x(), a.y() - previous.y());
                const double to = std::hypot(b.x() - previous.x(), b.y() - previous.y());
                while (at < to) {
                    const double within = std::fmod(phase + at, period);
                    const bool on = within < pen.dashOn;
                    const double stop =
                        std::min(to, at + std::max(1e-3, (on ? pen.dashOn : period) - within));
                    if (on)
                        lines.segments.emplace_back(previous + unit * at, previous + unit * stop);
                    at = stop;
                }
            }
            phase = std::fmod(phase + length, period);
        }
        previous = point;
        joined = true;
        if (i % kDashRestart == 0)
            phase = 0;
    }
}

} // namespace lockstep
