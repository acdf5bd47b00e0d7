// CurveView for screen readers: a chart whose value is the read-out at the cursor, and whose description is the summary of
// its series. Private to ui/plots.
#pragma once

#include <QAccessibleWidget>

namespace lockstep {

class CurveView;

class CurveAccessible : public QAccessibleWidget, public QAccessibleValueInterface
{
public:
    explicit CurveAccessible(CurveView* view);

    // Once per program; every CurveView made afterwards has one.
    static void install();

    void* interface_cast(QAccessible::InterfaceType type) override;
    QString text(QAccessible::Text what) const override;

    // The step under the cursor; setting it moves the cursor of all plots of the page.
    QVariant currentValue() const override;
    void setCurrentValue(const QVariant& value) override;
    QVariant maximumValue() const override;
    QVariant minimumValue() const override;
    QVariant minimumStepSize() const override { return 1; }

private:
    CurveView* view() const;
};

} // namespace lockstep
