// Mouse and keys of HeatmapView, and the exact value of a cell.
#include "ui/plots/heatmap_view_p.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace lockstep {

std::optional<double> HeatmapView::Impl::valueAt(int row, qint64 step) const
{
    if (row < 0 || row >= int(rows.size()) || !rows[std::size_t(row)].data)
        return std::nullopt;
    const SeriesSnapshot& data = *rows[std::size_t(row)].data;
    const std::size_t i = data.indexOf(step);
    return i < data.size() ? std::optional(data.value(i)) : std::nullopt;
}

QString HeatmapView::Impl::cellText(int row, qint64 step) const
{
    const auto value = valueAt(row, step);
    const QString label = row >= 0 ? rows[std::size_t(row)].label : QString();
    return value ? HeatmapView::tr("%1, step %2: %3 %4, limit %5")
                       .arg(label)
                       .arg(step)
                       .arg(*value)
                       .arg(unit)
                       .arg(limit)
                 : HeatmapView::tr("%1, step %2: no record").arg(label).arg(step);
}

std::optional<qint64> HeatmapView::Impl::nearestStep(double x) const
{
    std::optional<qint64> best;
    for (const HeatmapRow& row : rows) {
        if (!row.data || row.data->empty())
            continue;
        const qint64 step = row.data->step(row.data->nearest(x));
        if (!best || std::fabs(double(step) - x) < std::fabs(double(*best) - x))
            best = step;
    }
    return best;
}

void HeatmapView::Impl::userRange(double newLow, double newHigh)
{
    if (!std::isfinite(newLow) || !std::isfinite(newHigh) || newHigh - newLow < 1e-3)
        return;
    q->setXRange(newLow, newHigh);
    Q_EMIT q->xRangeChanged(low, high);
}

void HeatmapView::Impl::userCell(int row, std::optional<qint64> step)
{
    if (row != current) {
        current = row;
        Q_EMIT q->currentRowChanged(row);
    }
    if (step != cursor) {
        cursor = step;
        Q_EMIT q->cursorStepChanged(step);
    }
    Q_EMIT q->hoverTextChanged(step && row >= 0 ? cellText(row, *step) : QString());
    q->update();
}

void HeatmapView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    impl_->pressed = impl_->dragLast = event->position();
    impl_->moved = false;
}

void HeatmapView::mouseMoveEvent(QMouseEvent* event)
{
    Impl& d = *impl_;
    const QPointF at = event->position();
    if (!d.pressed) {
        const int row = d.rowAt(at.y());
        const QRect a = d.area();
        d.hovered = row >= 0 && at.x() >= a.left() && at.x() <= a.right() + 1;
        if (d.hovered) {
            // A pixel may stand for several steps: the one that gave it its colour is shown, not the nearest.
            const double from = d.toStep(std::floor(at.x())), to = d.toStep(std::floor(at.x()) + 1);
            std::optional<qint64> step = d.nearestStep((from + to) / 2);
            int best = row;
            double largest = -1;
            for (int r = row; r < std::min(int(d.rows.size()), row + d.ranksPerBand()); ++r) {
                const auto& data = d.rows[std::size_t(r)].data;
                if (!data || data->empty())
                    continue;
                for (std::size_t i = data->lowerBound(from), end = std::min(data->lowerBound(to), i + 100000);
                     i < end; ++i) {
                    const double size = std::isfinite(data->value(i)) ? std::fabs(data->value(i)) : INFINITY;
                    if (size > largest) {
                        largest = size;
                        step = data->step(i);
                        best = r;
                    }
                }
            }
            d.userCell(best, step);
        } else {
            d.userCell(d.current, std::nullopt);
        }
        return;
    }
    d.moved = d.moved || (at - *d.pressed).manhattanLength() >= 4;
    if (d.moved) {
        const double by = d.toStep(d.dragLast.x()) - d.toStep(at.x());
        d.userRange(d.low + by, d.high + by);
        d.dragLast = at;
    }
}

void HeatmapView::mouseReleaseEvent(QMouseEvent*)
{
    Impl& d = *impl_;
    if (d.pressed && !d.moved && d.current >= 0 && d.cursor)
        Q_EMIT cellActivated(d.current, *d.cursor);
    d.pressed.reset();
}

void HeatmapView::mouseDoubleClickEvent(QMouseEvent*)
{
    const auto [first, last] = dataXRange();
    impl_->userRange(first, last);
}

void HeatmapView::wheelEvent(QWheelEvent* event)
{
    Impl& d = *impl_;
    const auto [first, last] = dataXRange();
    double factor = std::pow(1.25, -event->angleDelta().y() / 120.0);
    factor = std::min(factor, std::max(1.0, 3 * (last - first) / (d.high - d.low)));
    const double centre = d.toStep(event->position().x());
    d.userRange(centre - (centre - d.low) * factor, centre + (d.high - centre) * factor);
}

void HeatmapView::leaveEvent(QEvent*)
{
    impl_->hovered = false;
    if (!hasFocus())
        impl_->userCell(impl_->current, std::nullopt);
}

void HeatmapView::keyPressEvent(QKeyEvent* event)
{
    Impl& d = *impl_;
    const qint64 by = event->modifiers() & Qt::ShiftModifier ? 10 : 1;
    const auto [first, last] = dataXRange();
    const int rows = int(d.rows.size());
    const auto step = d.cursor ? d.cursor : d.nearestStep((d.low + d.high) / 2);
    const int row = std::max(0, d.current);
    if (rows == 0 || !step || event->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) {
        QWidget::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Left:
        d.userCell(row, d.nearestStep(double(*step - by)));
        return;
    case Qt::Key_Right:
        d.userCell(row, d.nearestStep(double(*step + by)));
        return;
    case Qt::Key_Up:
        d.userCell(std::max(0, row - 1), step);
        return;
    case Qt::Key_Down:
        d.userCell(std::min(rows - 1, d.current + 1), step);
        return;
    case Qt::Key_Home: {
        int found = -1;
        std::optional<qint64> earliest;
        for (int r = 0; r < rows; ++r) {
            const auto& data = d.rows[std::size_t(r)].data;
            if (d.beyond[std::size_t(r)] == 0)
                continue;
            const qint64 at = data->step(data->firstOutside(-d.limit, d.limit));
            if (!earliest || at < *earliest) {
                earliest = at;
                found = r;
            }
        }
        if (!earliest)
            return;
        d.userCell(found, earliest);
        if (double(*earliest) < d.low || double(*earliest) > d.high) {
            const double half = (d.high - d.low) / 2;
            d.userRange(double(*earliest) - half, double(*earliest) + half);
        }
        return;
    }
    case Qt::Key_F:
        d.userRange(first, last);
        return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
    case Qt::Key_Minus: {
        const double factor = event->key() == Qt::Key_Minus ? 1.6 : 1 / 1.6;
        const double centre = double(*step);
        d.userRange(centre - (centre - d.low) * factor, centre + (d.high - centre) * factor);
        return;
    }
    case Qt::Key_Return:
    case Qt::Key_Enter:
        Q_EMIT cellActivated(row, *step);
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

void HeatmapView::focusInEvent(QFocusEvent* event)
{
    update();
    QWidget::focusInEvent(event);
}

void HeatmapView::focusOutEvent(QFocusEvent* event)
{
    update();
    QWidget::focusOutEvent(event);
}

} // namespace lockstep
