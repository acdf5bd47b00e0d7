// Rows, ranges and summary of HeatmapView. Its other subjects have files of their own, see heatmap_view_p.h.
#include "ui/plots/heatmap_view_p.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep {

HeatmapView::HeatmapView(QWidget* parent) : QWidget(parent), impl_(std::make_unique<Impl>(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setAccessibleName(tr("Ranks by step"));
}

HeatmapView::~HeatmapView() = default;

void HeatmapView::setTheme(const PlotTheme& theme)
{
    impl_->theme = theme;
    impl_->stale = true;
    update();
}

void HeatmapView::setTitle(const QString& title)
{
    impl_->title = title;
    setAccessibleName(title);
    update();
}

void HeatmapView::setRows(std::vector<HeatmapRow> rows)
{
    impl_->rows = std::move(rows);
    impl_->current = std::min(impl_->current, int(impl_->rows.size()) - 1);
    impl_->countBeyond();
    impl_->stale = true;
    if (!impl_->ranged) {
        const auto [first, last] = dataXRange();
        impl_->low = first;
        impl_->high = last;
    }
    setAccessibleDescription(textSummary());
    update();
}

void HeatmapView::setLimit(double limit, const QString& unit)
{
    if (limit > 0 && std::isfinite(limit))
        impl_->limit = limit;
    impl_->unit = unit;
    impl_->countBeyond();
    impl_->stale = true;
    setAccessibleDescription(textSummary());
    update();
}

void HeatmapView::setMarkers(std::vector<CurveMarker> markers)
{
    impl_->markers = std::move(markers);
    impl_->stale = true;
    update();
}

void HeatmapView::setXRange(double lower, double upper)
{
    if (!std::isfinite(lower) || !std::isfinite(upper) || !(lower < upper))
        return;
    impl_->low = lower;
    impl_->high = upper;
    impl_->ranged = true;
    impl_->stale = true;
    update();
}

std::pair<double, double> HeatmapView::xRange() const
{
    return {impl_->low, impl_->high};
}

std::pair<double, double> HeatmapView::dataXRange() const
{
    double first = std::numeric_limits<double>::infinity(), last = -first;
    for (const HeatmapRow& row : impl_->rows) {
        if (!row.data || row.data->empty())
            continue;
        first = std::min(first, double(row.data->firstStep()));
        last = std::max(last, double(row.data->lastStep()));
    }
    if (first > last)
        return {0, 1};
    return {first, last + std::max((last - first) * 0.005, 0.05)}; // as CurveView, so that both line up
}

bool HeatmapView::hasData() const
{
    return std::any_of(impl_->rows.begin(), impl_->rows.end(),
                       [](const HeatmapRow& row) { return row.data && !row.data->empty(); });
}

void HeatmapView::setMargins(int left, int right)
{
    impl_->left = left;
    impl_->right = right;
    impl_->stale = true;
    update();
}

void HeatmapView::setCursorStep(std::optional<qint64> step)
{
    impl_->cursor = step;
    update();
}

std::optional<qint64> HeatmapView::cursorStep() const
{
    return impl_->cursor;
}

void HeatmapView::setCurrentRow(int row)
{
    impl_->current = std::clamp(row, -1, int(impl_->rows.size()) - 1);
    update();
}

int HeatmapView::currentRow() const
{
    return impl_->current;
}

std::int64_t HeatmapView::beyondLimit(int row) const
{
    return row >= 0 && row < int(impl_->beyond.size()) ? std::int64_t(impl_->beyond[std::size_t(row)]) : 0;
}

void HeatmapView::Impl::countBeyond()
{
    beyond.assign(rows.size(), 0);
    for (std::size_t r = 0; r < rows.size(); ++r)
        if (rows[r].data)
            beyond[r] = rows[r].data->countOutside(-limit, limit);
}

QString HeatmapView::textSummary() const
{
    QStringList odd;
    std::int64_t notFinite = 0;
    for (std::size_t r = 0; r < impl_->rows.size(); ++r) {
        if (impl_->beyond[r] > 0)
            odd << tr("%1: %n steps beyond the limit", nullptr, int(impl_->beyond[r]))
                       .arg(impl_->rows[r].label);
        if (impl_->rows[r].data)
            notFinite += impl_->rows[r].data->summary().bad;
    }
    QString text = odd.isEmpty() ? tr("%1 rows, none beyond the limit of %2 %3.")
                                       .arg(impl_->rows.size())
                                       .arg(impl_->limit)
                                       .arg(impl_->unit)
                                 : odd.join(QStringLiteral(", ")) + QLatin1Char('.');
    if (notFinite > 0)
        text += QLatin1Char(' ') + tr("%n values are not finite.", nullptr, int(notFinite));
    return text;
}

int HeatmapView::fullHeight() const
{
    return Impl::kTitleHeight + OverlayContent::kTitleStrip + Impl::kAxisHeight +
           int(Impl::kTallestRow) * std::max(1, int(impl_->rows.size()));
}

QSize HeatmapView::sizeHint() const
{
    return {760, 90 + 22 * int(std::min<std::size_t>(impl_->rows.size(), 32))};
}

QSize HeatmapView::minimumSizeHint() const
{
    return {320, 140};
}

} // namespace lockstep
