// Mouse and keys of CurveView.
#include "ui/plots/curve_view_p.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

// Wheel units of one notch.
constexpr double kNotch = 120;
constexpr double kZoomPerNotch = 1.25;
constexpr double kSmallestWidth = 1e-3; // steps

} // namespace

void CurveView::Impl::userRange(double newLow, double newHigh)
{
    if (!std::isfinite(newLow) || !std::isfinite(newHigh) || newHigh - newLow < kSmallestWidth)
        return;
    if (following) {
        following = false;
        Q_EMIT q->followingChanged(false);
    }
    q->setXRange(newLow, newHigh);
    Q_EMIT q->xRangeChanged(low, high);
}

void CurveView::Impl::userZoom(double factor, double centre)
{
    const auto [first, last] = q->dataXRange();
    // Not further out than three times the run.
    factor = std::min(factor, std::max(1.0, 3 * (last - first) / (high - low)));
    const double from = xTransform.forward(low), to = xTransform.forward(high),
                 at = xTransform.forward(centre);
    userRange(xTransform.backward(at - (at - from) * factor), xTransform.backward(at + (to - at) * factor));
}

void CurveView::Impl::userPan(double part)
{
    const double from = xTransform.forward(low), to = xTransform.forward(high), by = (to - from) * part;
    userRange(xTransform.backward(from + by), xTransform.backward(to + by));
}

std::optional<qint64> CurveView::Impl::nearestStep(double x) const
{
    std::optional<qint64> best;
    for (const CurveSeries& one : series) {
        if (!one.data || one.data->empty())
            continue;
        const qint64 step = one.data->step(one.data->nearest(x));
        if (!best || std::fabs(double(step) - x) < std::fabs(double(*best) - x))
            best = step;
    }
    return best;
}

void CurveView::Impl::userCursor(std::optional<qint64> step)
{
    if (cursor != step) {
        cursor = step;
        overlay->update();
        Q_EMIT q->cursorStepChanged(cursor);
        QAccessibleValueChangeEvent moved(q, cursor ? QVariant(*cursor) : QVariant());
        QAccessible::updateAccessibility(&moved);
    }
    Q_EMIT q->hoverTextChanged(cursor ? q->readoutText(*cursor) : QString());
}

void CurveView::Impl::moveCursor(qint64 by)
{
    // Moves over recorded steps of any series; `by` counts records of the series that has the next one.
    if (!cursor) {
        userCursor(nearestStep((low + high) / 2));
        return;
    }
    qint64 at = *cursor;
    for (qint64 k = 0; k < std::llabs(by); ++k) {
        std::optional<qint64> next;
        for (const CurveSeries& one : series) {
            if (!one.data || one.data->empty())
                continue;
            std::size_t i = one.data->lowerBound(double(at));
            if (by > 0) {
                while (i < one.data->size() && one.data->step(i) <= at)
                    ++i;
                if (i < one.data->size() && (!next || one.data->step(i) < *next))
                    next = one.data->step(i);
            } else {
                while (i > 0 && (i == one.data->size() || one.data->step(i) >= at))
                    --i;
                if (one.data->step(i) < at && (!next || one.data->step(i) > *next))
                    next = one.data->step(i);
            }
        }
        if (!next)
            break;
        at = *next;
    }
    userCursor(at);
    // Keep the cursor in view.
    const double width = high - low;
    if (double(at) < low)
        userRange(double(at) - width * 0.1, double(at) + width * 0.9);
    else if (double(at) > high)
        userRange(double(at) - width * 0.9, double(at) + width * 0.1);
}

void CurveView::Impl::hoverAt(const QPointF& position)
{
    if (pinned)
        return;
    const QRect area = plot->axisRect()->rect();
    const bool inside = area.adjusted(-2, -2, 2, 2).contains(position.toPoint());
    hovered = inside;
    userCursor(inside ? nearestStep(std::clamp(xToStep(position.x()), low, high)) : std::nullopt);
    overlay->update();
}

void CurveView::Impl::cycleScale()
{
    const YScale next = transform.scale == YScale::Linear ? YScale::Log
                        : transform.scale == YScale::Log  ? YScale::Symlog
                                                          : YScale::Linear;
    q->setYScale(next, transform.threshold);
    Q_EMIT q->yScaleChanged(next);
}

bool CurveView::Impl::mousePress(QMouseEvent* event)
{
    q->setFocus(Qt::MouseFocusReason);
    if (event->button() != Qt::LeftButton)
        return false;
    drag = event->modifiers() & Qt::ShiftModifier ? Drag::Select : Drag::Pan;
    dragFrom = dragLast = event->position();
    moved = false;
    return true;
}

bool CurveView::Impl::mouseMove(QMouseEvent* event)
{
    if (drag == Drag::None) {
        hoverAt(event->position());
        return true;
    }
    const QPointF to = event->position();
    moved = moved || (to - dragFrom).manhattanLength() >= 4;
    if (!moved)
        return true;
    if (drag == Drag::Pan) {
        if (const double by = dragLast.x() - to.x(); by != 0)
            userPan(by / std::max(1, plot->axisRect()->width()));
        if (fixedY) {
            const double from = plot->yAxis->pixelToCoord(dragLast.y()),
                         now = plot->yAxis->pixelToCoord(to.y());
            const QCPRange y = plot->yAxis->range();
            q->setYRange(std::pair{transform.backward(y.lower + from - now),
                                   transform.backward(y.upper + from - now)});
        }
        overlay->setCursor(Qt::ClosedHandCursor);
    } else {
        const double a = xToStep(dragFrom.x()), b = xToStep(to.x());
        selection = std::pair{std::min(a, b), std::max(a, b)};
        overlay->update();
    }
    dragLast = to;
    return true;
}

bool CurveView::Impl::mouseRelease(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || drag == Drag::None)
        return false;
    const Drag was = drag;
    drag = Drag::None;
    overlay->unsetCursor();
    if (was == Drag::Select && selection)
        Q_EMIT q->rangeSelected(selection->first, selection->second);
    else if (!moved && cursor)
        Q_EMIT q->stepActivated(*cursor);
    return true;
}

bool CurveView::Impl::wheel(QWheelEvent* event)
{
    const double notches = event->angleDelta().y() / kNotch;
    if (notches == 0) {
        const double sideways = event->angleDelta().x() / kNotch;
        if (sideways == 0)
            return false;
        userPan(-sideways * 0.1);
        return true;
    }
    const double factor = std::pow(kZoomPerNotch, -notches);
    if (event->modifiers() & Qt::ControlModifier) {
        const QCPRange y = plot->yAxis->range();
        const double centre = plot->yAxis->pixelToCoord(event->position().y());
        q->setYRange(std::pair{transform.backward(centre - (centre - y.lower) * factor),
                               transform.backward(centre + (y.upper - centre) * factor)});
    } else {
        userZoom(factor, xToStep(event->position().x()));
    }
    return true;
}

bool CurveView::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != impl_->overlay)
        return QWidget::eventFilter(watched, event);
    if (event->type() == QEvent::Leave) {
        impl_->hovered = false;
        if (!impl_->pinned)
            impl_->userCursor(std::nullopt);
        impl_->overlay->update();
        return false;
    }
    if (!impl_->interactive)
        return event->type() == QEvent::MouseMove ? impl_->mouseMove(static_cast<QMouseEvent*>(event))
                                                  : false;
    switch (event->type()) {
    case QEvent::MouseButtonPress:
        return impl_->mousePress(static_cast<QMouseEvent*>(event));
    case QEvent::MouseMove:
        return impl_->mouseMove(static_cast<QMouseEvent*>(event));
    case QEvent::MouseButtonRelease:
        return impl_->mouseRelease(static_cast<QMouseEvent*>(event));
    case QEvent::MouseButtonDblClick: {
        impl_->fixedY.reset();
        const auto [first, last] = dataXRange();
        impl_->userRange(first, last);
        return true;
    }
    case QEvent::Wheel:
        return impl_->wheel(static_cast<QWheelEvent*>(event));
    default:
        return false;
    }
}

void CurveView::keyPressEvent(QKeyEvent* event)
{
    const bool shift = event->modifiers() & Qt::ShiftModifier;
    if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) {
        QWidget::keyPressEvent(event);
        return;
    }
    const auto [first, last] = dataXRange();
    switch (event->key()) {
    case Qt::Key_Left:
        impl_->moveCursor(shift ? -10 : -1);
        return;
    case Qt::Key_Right:
        impl_->moveCursor(shift ? 10 : 1);
        return;
    case Qt::Key_Home:
        impl_->userCursor(impl_->nearestStep(first));
        impl_->moveCursor(0);
        return;
    case Qt::Key_End:
        impl_->userCursor(impl_->nearestStep(last));
        impl_->moveCursor(0);
        return;
    case Qt::Key_F:
        impl_->fixedY.reset();
        impl_->userRange(first, last);
        return;
    case Qt::Key_L:
        impl_->cycleScale();
        return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
    case Qt::Key_Minus: {
        const double middle =
            impl_->cursor && double(*impl_->cursor) >= impl_->low && double(*impl_->cursor) <= impl_->high
                ? double(*impl_->cursor)
                : (impl_->low + impl_->high) / 2;
        impl_->userZoom(event->key() == Qt::Key_Minus ? 1.6 : 1 / 1.6, middle);
        return;
    }
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (!impl_->cursor)
            break;
        impl_->pinned = !impl_->pinned;
        impl_->overlay->update();
        Q_EMIT pinnedChanged(impl_->pinned);
        Q_EMIT stepActivated(*impl_->cursor);
        return;
    case Qt::Key_Escape:
        // One thing at a time; with nothing left the key belongs to the page.
        if (impl_->pinned) {
            impl_->pinned = false;
            Q_EMIT pinnedChanged(false);
        } else if (impl_->selection) {
            impl_->selection.reset();
        } else {
            break;
        }
        impl_->overlay->update();
        return;
    default:
        break;
    }
    QWidget::keyPressEvent(event);
}

void CurveView::focusInEvent(QFocusEvent* event)
{
    impl_->overlay->update();
    QWidget::focusInEvent(event);
}

void CurveView::focusOutEvent(QFocusEvent* event)
{
    impl_->overlay->update();
    QWidget::focusOutEvent(event);
}

} // namespace lockstep
