// Text around the cells of HeatmapView: legend, names of rows and groups, count of steps beyond the limit.
#include "ui/plots/heatmap_view_p.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

constexpr double kLabelHeight = 13;

} // namespace

void HeatmapView::Impl::paintLegend(QPainter& p) const
{
    p.setFont(PlotTheme::labelFont());
    const QFontMetricsF metrics(p.font());
    double x = q->width() - 8;
    const double y = (kTitleHeight - 12) / 2.0;
    const auto text = [&](const QString& t) {
        const double w = metrics.horizontalAdvance(t);
        x -= w;
        p.setPen(theme.ink2);
        p.drawText(QRectF(x, 0, w + 2, kTitleHeight), Qt::AlignLeft | Qt::AlignVCenter, t);
        x -= 6;
    };
    text(HeatmapView::tr("no record"));
    x -= 16;
    p.fillRect(QRectF(x, y, 16, 11), QBrush(theme.line, Qt::BDiagPattern));
    x -= 14;
    text(HeatmapView::tr("NaN"));
    p.setPen(Qt::NoPen);
    p.setBrush(theme.ink);
    p.drawPolygon(
        QPolygonF{QPointF(x - 5, y + 1), QPointF(x, y + 6), QPointF(x - 5, y + 11), QPointF(x - 10, y + 6)});
    p.setBrush(Qt::NoBrush);
    x -= 24;
    text(HeatmapView::tr("beyond limit %1").arg(limit));
    x -= 18;
    p.fillRect(QRectF(x, y, 17, 11), theme.heat[6]);
    p.setPen(QPen(theme.red, 1.5));
    p.drawRect(QRectF(x, y, 17, 11));
    x -= 14;
    text(unit.isEmpty() ? QString::number(limit) : QStringLiteral("%1 %2").arg(limit).arg(unit));
    for (int bin = 5; bin >= 0; --bin) {
        x -= 16;
        p.fillRect(QRectF(x, y, 15, 11), theme.heat[std::size_t(bin)]);
    }
    x -= 5;
    text(QStringLiteral("0"));
    if (!title.isEmpty()) {
        p.setFont(PlotTheme::titleFont());
        p.setPen(theme.ink);
        p.drawText(QRectF(8, 0, std::max(0.0, x - 12), kTitleHeight), Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(p.font()).elidedText(title, Qt::ElideMiddle, std::max(0.0, x - 12)));
    }
}

void HeatmapView::Impl::paintRowLabels(QPainter& p) const
{
    const QRect a = area();
    const int perBand = ranksPerBand(), count = bands();
    const double height = double(a.height()) / std::max(1, count);
    const int every = std::max(1, int(std::ceil(kLabelHeight / height)));
    std::size_t most = 1;
    for (const std::size_t n : beyond)
        most = std::max(most, n);
    const auto beyondIn = [&](int band) {
        std::size_t n = 0;
        for (int r = band * perBand; r < std::min(int(rows.size()), (band + 1) * perBand); ++r)
            n += beyond[std::size_t(r)];
        return n;
    };
    // Odd rows have the first choice of the room, the worst of them before the others.
    std::vector<std::pair<int, bool>> labelled;
    std::vector<int> oddBands;
    for (int band = 0; band < count; ++band)
        if (beyondIn(band) > 0)
            oddBands.push_back(band);
    std::stable_sort(oddBands.begin(), oddBands.end(),
                     [&](int x, int y) { return beyondIn(x) > beyondIn(y); });
    const auto hasRoom = [&](int band) {
        return std::none_of(labelled.begin(), labelled.end(), [&](const auto& other) {
            return std::fabs((other.first - band) * height) < kLabelHeight - 0.5;
        });
    };
    for (const int band : oddBands)
        if (hasRoom(band))
            labelled.emplace_back(band, true);
    for (int band = 0; band < count; band += every) {
        if (hasRoom(band))
            labelled.emplace_back(band, false);
    }
    QString group;
    for (int band = 0; band < count; ++band) {
        const HeatmapRow& row = rows[std::size_t(band * perBand)];
        if (row.group == group)
            continue;
        group = row.group;
        const double y = a.top() + band * height;
        int end = band + 1;
        while (end < count && rows[std::size_t(end * perBand)].group == group)
            ++end;
        if ((end - band) * height < 2 * kLabelHeight) // groups too narrow to be told apart here
            continue;
        const double room = std::max(height, kLabelHeight);
        if (height >= kLabelHeight) { // else the names of the rows need the place
            p.setFont(PlotTheme::labelFont());
            p.setPen(theme.ink3);
            p.drawText(QRectF(6, y, left - 12, room), Qt::AlignLeft | Qt::AlignVCenter, group);
        }
        if (band > 0) {
            p.setPen(QPen(theme.line, 1));
            p.drawLine(QPointF(6, std::round(y) - 0.5), QPointF(q->width() - 8, std::round(y) - 0.5));
        }
    }
    for (const auto& [band, odd] : labelled) {
        const int first = band * perBand, last = std::min(int(rows.size()), (band + 1) * perBand) - 1;
        std::size_t n = 0;
        int oddRow = first;
        for (int r = last; r >= first; --r) {
            n += beyond[std::size_t(r)];
            oddRow = beyond[std::size_t(r)] > 0 ? r : oddRow;
        }
        const QRectF line(0, a.top() + (band + 0.5) * height - 10, left - 8, 20);
        const HeatmapRow& row = rows[std::size_t(odd ? oddRow : first)];
        const QString label = last > first && !odd ? row.label + QStringLiteral(" ...") : row.label;
        p.setFont(odd ? PlotTheme::titleFont() : PlotTheme::labelFont());
        p.setPen(odd ? theme.red : theme.ink);
        p.drawText(line, Qt::AlignRight | Qt::AlignVCenter, label);
        if (odd) {
            const double x = line.right() - QFontMetricsF(p.font()).horizontalAdvance(label) - 13;
            paintDivergenceIcon(p, theme, {x, line.center().y()}, theme.base);
        }
        const QRectF number(a.right() + 8, line.top(), 34, 20);
        p.setFont(odd ? PlotTheme::titleFont() : PlotTheme::labelFont());
        p.setPen(odd ? theme.red : theme.ink2);
        p.drawText(number, Qt::AlignRight | Qt::AlignVCenter, QString::number(n));
        if (n > 0)
            p.fillRect(QRectF(number.right() + 6, line.center().y() - 3,
                              std::max(2.0, (q->width() - number.right() - 14) * double(n) / double(most)),
                              6),
                       theme.red);
    }
    p.setFont(PlotTheme::labelFont());
    p.setPen(theme.ink3);
    p.drawText(QRectF(a.right() + 8, a.top() - 18, right - 10, 16), Qt::AlignLeft | Qt::AlignVCenter,
               HeatmapView::tr("beyond limit"));
}

} // namespace lockstep
