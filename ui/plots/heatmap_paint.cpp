// Cells, axis and chosen cell of HeatmapView.
#include "ui/plots/heatmap_cells.h"
#include "ui/plots/heatmap_view_p.h"
#include "ui/plots/value_ticker.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace lockstep {

void HeatmapView::Impl::renderCells(double ratio)
{
    const QRect a = area();
    const int width = std::max(1, int(std::lround(a.width() * ratio)));
    const int height = std::max(1, int(std::lround(a.height() * ratio)));
    cells = QImage(width, height, QImage::Format_ARGB32_Premultiplied);
    cells.fill(theme.base);
    const PlotMapping map(low, high, 0, 1, width, height);
    QPainter p(&cells);
    const int perBand = ranksPerBand(), count = bands();
    for (int band = 0; band < count; ++band) {
        std::vector<HeatCell> line(static_cast<std::size_t>(width));
        for (int r = band * perBand; r < std::min(int(rows.size()), (band + 1) * perBand); ++r) {
            if (!rows[std::size_t(r)].data)
                continue;
            const auto own = heatCells(*rows[std::size_t(r)].data, map);
            for (std::size_t c = 0; c < own.size(); ++c)
                line[c].add(own[c]);
        }
        const int top = height * band / count, bottom = height * (band + 1) / count;
        const int gap = bottom - top > 8 * ratio ? int(std::lround(2 * ratio)) : 0;
        const QRect box(0, top, width, std::max(1, bottom - top - gap));
        for (int c = 0; c < width;) {
            const HeatCell& cell = line[std::size_t(c)];
            const int bin = cell.recorded ? heatBin(cell.largest, limit) : -1;
            int end = c + 1;
            while (end < width) {
                const HeatCell& next = line[std::size_t(end)];
                if ((next.recorded ? heatBin(next.largest, limit) : -1) != bin)
                    break;
                ++end;
            }
            const QRect stretch(c, box.top(), end - c, box.height());
            if (bin >= 0)
                p.fillRect(stretch, theme.heat[std::size_t(bin)]);
            else
                p.fillRect(stretch, QBrush(theme.line, Qt::BDiagPattern));
            c = end;
        }
        // Frames and diamonds are as wide as a pointer can find, however narrow the cell is.
        const double line1 = 1.5 * ratio;
        p.setBrush(Qt::NoBrush);
        for (const auto& [first, last] : stretchesBeyond(line, limit, int(std::lround(3 * ratio)))) {
            const double wide = std::max(double(last - first + 1), 4 * ratio);
            const double middle = (first + last + 1) / 2.0;
            p.setPen(QPen(theme.red, line1));
            p.drawRect(QRectF(middle - wide / 2, box.top(), wide, box.height())
                           .adjusted(line1 / 2, line1 / 2, -line1 / 2, -line1 / 2));
        }
        p.setRenderHint(QPainter::Antialiasing);
        p.setPen(Qt::NoPen);
        p.setBrush(theme.ink);
        double lastDiamond = -100;
        const double half = std::min(4 * ratio, box.height() / 2.0);
        for (int c = 0; c < width; ++c) {
            if (!line[std::size_t(c)].bad || c - lastDiamond < 2 * half)
                continue;
            lastDiamond = c;
            const QPointF m(c + 0.5, box.top() + box.height() / 2.0);
            p.drawPolygon(QPolygonF{m - QPointF(0, half), m + QPointF(half, 0), m + QPointF(0, half),
                                    m - QPointF(half, 0)});
        }
        p.setRenderHint(QPainter::Antialiasing, false);
    }
    p.end();
    cells.setDevicePixelRatio(ratio);
    stale = false;
}

OverlayContent HeatmapView::Impl::overlayContent() const
{
    OverlayContent c;
    c.theme = theme;
    c.area = area();
    c.focused = q->hasFocus();
    if (!q->hasData())
        c.emptyText = HeatmapView::tr("No values yet.");
    for (const CurveMarker& marker : markers)
        c.markers.push_back({toX(double(marker.step)), marker.text, marker.kind});
    if (cursor && double(*cursor) >= low && double(*cursor) <= high) {
        c.cursorX = toX(double(*cursor));
        if ((hovered || c.focused) && current >= 0) {
            c.readoutHead = HeatmapView::tr("step %1").arg(*cursor);
            const auto value = valueAt(current, *cursor);
            const bool odd = value && std::fabs(*value) > limit;
            c.rows.push_back({rows[std::size_t(current)].label,
                              value ? QString::number(*value, 'g', 6) +
                                          (unit.isEmpty() ? QString() : QLatin1Char(' ') + unit)
                                    : HeatmapView::tr("no record"),
                              odd ? theme.red : theme.ranks[2], CurveStyle::Mean, odd});
        }
    }
    return c;
}

void HeatmapView::paintEvent(QPaintEvent*)
{
    Impl& d = *impl_;
    const double ratio = devicePixelRatioF();
    const QRect a = d.area();
    if (d.stale || d.cells.size() != (QSizeF(a.size()) * ratio).toSize() ||
        d.cells.devicePixelRatio() != ratio)
        d.renderCells(ratio);
    QPainter p(this);
    p.fillRect(rect(), d.theme.base);
    p.setRenderHint(QPainter::Antialiasing);
    d.paintLegend(p);
    if (!d.rows.empty()) {
        p.drawImage(a.topLeft(), d.cells);
        d.paintRowLabels(p);
    }
    const ValueTicks ticks = stepTicks(d.low, d.high, std::max(2, a.width() / 70));
    p.setFont(PlotTheme::labelFont());
    for (int i = 0; i < ticks.major.size(); ++i) {
        const double x = d.toX(ticks.major[i]);
        p.setPen(QPen(d.theme.ink3, 1));
        p.drawLine(QPointF(x, a.bottom() + 1), QPointF(x, a.bottom() + 4));
        p.setPen(d.theme.ink2);
        p.drawText(QRectF(x - 40, a.bottom() + 5, 80, 15), Qt::AlignHCenter | Qt::AlignTop, ticks.labels[i]);
    }
    p.setPen(d.theme.ink2);
    p.drawText(QRectF(0, a.bottom() + 5, d.left - 24, 15), Qt::AlignRight | Qt::AlignTop, tr("step"));
    if (d.current >= 0 && d.cursor) {
        const QRectF band = d.bandRect(d.current / d.ranksPerBand());
        const double x = d.toX(double(*d.cursor)), half = std::max(3.0, a.width() / (d.high - d.low) / 2);
        const QRectF cell = QRectF(x - half, band.top(), 2 * half, band.height() - 1).intersected(QRectF(a));
        if (!cell.isEmpty()) {
            p.setPen(QPen(d.theme.base, 3.5));
            p.drawRect(cell);
            p.setPen(QPen(d.theme.ink, 1.5));
            p.drawRect(cell);
        }
    }
    paintOverlay(p, d.overlayContent(), size());
}

} // namespace lockstep
