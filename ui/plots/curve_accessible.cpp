#include "ui/plots/curve_accessible.h"

#include "ui/plots/curve_view.h"

namespace lockstep {

CurveAccessible::CurveAccessible(CurveView* view) : QAccessibleWidget(view, QAccessible::Chart)
{
}

void CurveAccessible::install()
{
    static const bool once = [] {
        QAccessible::installFactory([](const QString&, QObject* object) -> QAccessibleInterface* {
            auto* view = qobject_cast<CurveView*>(object);
            return view ? new CurveAccessible(view) : nullptr;
        });
        return true;
    }();
    Q_UNUSED(once)
}

CurveView* CurveAccessible::view() const
{
    return qobject_cast<CurveView*>(object());
}

void* CurveAccessible::interface_cast(QAccessible::InterfaceType type)
{
    if (type == QAccessible::ValueInterface)
        return static_cast<QAccessibleValueInterface*>(this);
    return QAccessibleWidget::interface_cast(type);
}

QString CurveAccessible::text(QAccessible::Text what) const
{
    const CurveView* plot = view();
    if (what == QAccessible::Name && plot)
        return plot->title();
    if (what == QAccessible::Value && plot)
        return plot->cursorStep() ? plot->readoutText(*plot->cursorStep()) : plot->textSummary();
    if (what == QAccessible::Description && plot)
        return plot->textSummary();
    return QAccessibleWidget::text(what);
}

QVariant CurveAccessible::currentValue() const
{
    const CurveView* plot = view();
    return plot && plot->cursorStep() ? QVariant(*plot->cursorStep()) : QVariant();
}

void CurveAccessible::setCurrentValue(const QVariant& value)
{
    if (CurveView* plot = view())
        plot->moveCursorTo(value.toLongLong());
}

QVariant CurveAccessible::maximumValue() const
{
    const CurveView* plot = view();
    return plot ? QVariant(qint64(plot->dataXRange().second)) : QVariant();
}

QVariant CurveAccessible::minimumValue() const
{
    const CurveView* plot = view();
    return plot ? QVariant(qint64(plot->dataXRange().first)) : QVariant();
}

} // namespace lockstep
