// A CurveView as a hand works it: pointer and wheel sent to its surface.
#pragma once

#include "ui/plots/curve_view.h"
#include "ui/plots/curve_view_p.h"

#include <QCoreApplication>
#include <QMouseEvent>
#include <QWheelEvent>

#include <vector>

namespace lockstep::test {

inline SeriesSnapshot::Ptr line(int steps, double slope = 1)
{
    std::vector<double> y;
    for (int i = 0; i < steps; ++i)
        y.push_back(slope * i + 0.1);
    return SeriesSnapshot::fromValues(0, 1, y);
}

inline void settle(QWidget& widget)
{
    widget.show();
    for (int i = 0; i < 5; ++i)
        QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
}

inline QWidget* surface(CurveView& view)
{
    return view.findChild<CurveOverlay*>();
}

inline QPoint pointAtStep(CurveView& view, double step)
{
    const QRect area = view.plotArea();
    const auto [low, high] = view.xRange();
    return {area.left() + int((step - low) / (high - low) * area.width()), area.center().y()};
}

// QTest::mouseMove does not deliver to a widget without a pointer on the offscreen platform.
inline void hover(CurveView& view, const QPoint& at, Qt::MouseButtons buttons = {})
{
    QMouseEvent event(QEvent::MouseMove, QPointF(at), QPointF(view.mapToGlobal(at)), Qt::NoButton, buttons,
                      {});
    QCoreApplication::sendEvent(surface(view), &event);
}

inline void wheel(CurveView& view, const QPoint& at, int notches, Qt::KeyboardModifiers modifiers = {})
{
    QWheelEvent event(QPointF(at), QPointF(view.mapToGlobal(at)), {}, QPoint(0, notches * 120), Qt::NoButton,
                      modifiers, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(surface(view), &event);
}

} // namespace lockstep::test
