// The inside of HeatmapView, shared by its source files: heatmap_view (rows, ranges, summary), heatmap_paint (cells),
// heatmap_labels (legend, row labels), heatmap_input.
#pragma once

#include "ui/plots/curve_overlay.h"
#include "ui/plots/heatmap_view.h"

#include <QImage>

#include <algorithm>
#include <cmath>

namespace lockstep {

struct HeatmapView::Impl {
    static constexpr int kTitleHeight = 24;
    static constexpr int kCountHead = 16; // the words above the counts at the right
    static constexpr int kAxisHeight = 22;
    static constexpr double kSmallestRow = 4; // lower than this, several ranks share a row
    static constexpr double kTallestRow = 26; // as fullHeight() promises

    HeatmapView* q;
    PlotTheme theme = PlotTheme::forApplication();
    QString title, unit;
    std::vector<HeatmapRow> rows;
    std::vector<std::size_t> beyond; // per row, over all steps
    std::vector<CurveMarker> markers;
    double limit = 6;
    double low = 0, high = 1;
    bool ranged = false, hovered = false;
    std::optional<qint64> cursor;
    int current = -1;
    int left = 96, right = 104;
    QImage cells;
    bool stale = true;
    std::optional<QPointF> pressed;
    QPointF dragLast;
    bool moved = false;

    explicit Impl(HeatmapView* view) : q(view) {}

    QRect area() const
    {
        const int top = kTitleHeight + (markers.empty() ? kCountHead : OverlayContent::kTitleStrip);
        return {
            left, top, std::max(10, q->width() - left - right),
            std::max(10, std::min(q->height() - top - kAxisHeight, int(kTallestRow * double(rows.size()))))};
    }
    int ranksPerBand() const
    {
        return std::max(1, int(std::ceil(double(rows.size()) * kSmallestRow / area().height())));
    }
    int bands() const { return (int(rows.size()) + ranksPerBand() - 1) / std::max(1, ranksPerBand()); }
    QRectF bandRect(int band) const
    {
        const QRect a = area();
        const double height = double(a.height()) / std::max(1, bands());
        return {double(a.left()), a.top() + band * height, double(a.width()), height};
    }
    int rowAt(double y) const
    {
        const QRect a = area();
        if (rows.empty() || y < a.top() || y >= a.bottom() + 1)
            return -1;
        const int band = std::clamp(int((y - a.top()) / (double(a.height()) / bands())), 0, bands() - 1);
        return std::min(int(rows.size()) - 1, band * ranksPerBand());
    }
    double toX(double step) const { return area().left() + (step - low) / (high - low) * area().width(); }
    double toStep(double x) const { return low + (x - area().left()) / area().width() * (high - low); }

    void countBeyond();
    void renderCells(double ratio);
    void paintLegend(QPainter& p) const;
    void paintRowLabels(QPainter& p) const;
    OverlayContent overlayContent() const;
    QString cellText(int row, qint64 step) const;
    std::optional<double> valueAt(int row, qint64 step) const;
    std::optional<qint64> nearestStep(double x) const;
    void userRange(double newLow, double newHigh);
    void userCell(int row, std::optional<qint64> step);
};

} // namespace lockstep
