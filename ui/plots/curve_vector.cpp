#include "ui/plots/curve_vector.h"

#include "ui/plots/curve_columns.h"

#include <QPolygonF>

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

constexpr int kPointsPerColumn = 4; // up to here every sample is a point of its own

// Finite stretches of one series as polylines, and the columns with a value that is not finite.
struct Trace {
    std::vector<QPolygonF> lines;
    std::vector<double> bad;
};

void addPoint(Trace& trace, bool& open, QPointF point)
{
    if (!open)
        trace.lines.emplace_back();
    trace.lines.back() << point;
    open = true;
}

Trace traceOf(const SeriesSnapshot& data, const PlotMapping& map)
{
    Trace trace;
    std::size_t begin = firstSample(data, map, 0);
    std::size_t end = firstSample(data, map, map.width(), begin);
    begin = begin > 0 ? begin - 1 : 0; // the lines that enter and leave
    end = std::min(data.size(), end + 1);
    bool open = false;
    if (end - begin <= std::size_t(map.width()) * kPointsPerColumn) {
        for (std::size_t i = begin; i < end; ++i) {
            const double x = map.px(double(data.step(i))), value = data.value(i);
            if (std::isfinite(value)) {
                addPoint(trace, open, {x, map.py(value)});
            } else {
                open = false;
                trace.bad.push_back(x);
            }
        }
        return trace;
    }
    for (std::size_t at = begin; at < end;) {
        const long column = map.column(double(data.step(at)));
        const std::size_t next = std::max(at + 1, std::min(end, firstSample(data, map, column + 1, at)));
        const SeriesNode node = data.query(at, next);
        const double x = double(column) + 0.5;
        if (!node.empty()) {
            addPoint(trace, open, {x, map.py(node.lo)});
            if (node.hi != node.lo)
                addPoint(trace, open, {x, map.py(node.hi)});
        }
        if (node.bad > 0) {
            trace.bad.push_back(x);
            open = !node.empty();
        }
        at = next;
    }
    return trace;
}

void paintCurve(QPainter& painter, const RasterCurve& curve, const RasterScene& scene, const PlotMapping& map)
{
    const Trace trace = traceOf(*curve.data, map);
    QPen pen(QColor::fromRgba(curve.pen.color), curve.pen.width);
    pen.setCapStyle(Qt::FlatCap);
    pen.setJoinStyle(Qt::RoundJoin);
    if (curve.pen.dashOn > 0)
        pen.setDashPattern({curve.pen.dashOn / curve.pen.width, curve.pen.dashOff / curve.pen.width});
    painter.setBrush(Qt::NoBrush);
    for (const QPolygonF& line : trace.lines) {
        painter.setPen(pen);
        if (line.size() > 1) {
            painter.drawPolyline(line);
        } else {
            painter.setPen(Qt::NoPen);
            painter.setBrush(pen.color());
            painter.drawEllipse(line.front(), 2, 2);
            painter.setBrush(Qt::NoBrush);
        }
    }
    painter.setPen(QPen(QColor::fromRgba(scene.nonFinite), 1));
    for (const double x : trace.bad)
        painter.drawLine(QPointF(x, map.height() - 8), QPointF(x, map.height()));
}

void paintBandVector(QPainter& painter, const RasterBand& band, const PlotMapping& map)
{
    const Trace upper = traceOf(*band.upper, map), lower = traceOf(*band.lower, map);
    for (std::size_t i = 0; i < std::min(upper.lines.size(), lower.lines.size()); ++i) {
        QPolygonF area = upper.lines[i];
        for (auto it = lower.lines[i].crbegin(); it != lower.lines[i].crend(); ++it)
            area << *it;
        painter.setPen(Qt::NoPen);
        painter.setBrush(QColor::fromRgba(band.fill));
        painter.drawPolygon(area);
        if (qAlpha(band.edge.color) > 0) {
            painter.setPen(QPen(QColor::fromRgba(band.edge.color), band.edge.width));
            painter.setBrush(Qt::NoBrush);
            painter.drawPolyline(upper.lines[i]);
            painter.drawPolyline(lower.lines[i]);
        }
    }
}

} // namespace

void paintVector(QPainter& painter, const RasterScene& scene, const PlotMapping& map, QPointF origin)
{
    painter.save();
    painter.translate(origin);
    painter.setClipRect(QRectF(0, 0, map.width(), map.height()));
    for (const RasterBand& band : scene.bands)
        paintBandVector(painter, band, map);
    for (const RasterCurve& curve : scene.curves)
        paintCurve(painter, curve, scene, map);
    painter.restore();
}

} // namespace lockstep
