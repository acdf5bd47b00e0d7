// Ticks of an axis whose coordinate is YTransform::forward(value). Private to ui/plots (QCustomPlot).
#pragma once

#include "ui/plots/plot_mapping.h"

#include "ui/plots/qcustomplot_include.h"

namespace lockstep {

struct ValueTicks {
    QVector<double> major; // coordinates
    QVector<QString> labels;
    QVector<double> minor;
};

// At most `target` labelled ticks for the coordinates [low, high]; labels are plain decimals, or powers of
// ten written as 10^k with superscript digits.
ValueTicks valueTicks(double low, double high, int target, const YTransform& transform);
// Ticks of a step axis: whole steps only, at 1, 2 or 5 times a power of ten.
ValueTicks stepTicks(double low, double high, int target);
// The same on a logarithmic step axis, coordinates of XTransform.
ValueTicks logStepTicks(double low, double high, int target);
// 10 to the power of `exponent` in superscript, "-10⁻⁶" for negative values.
QString powerOfTenLabel(int exponent, bool negative);

class ValueTicker : public QCPAxisTicker
{
public:
    enum class Kind { Value, Step };
    explicit ValueTicker(Kind kind) : kind_(kind) {}
    YTransform transform;
    XTransform xTransform; // of a step axis
    int target = 5;

    void generate(const QCPRange& range, const QLocale& locale, QChar formatChar, int precision,
                  QVector<double>& ticks, QVector<double>* subTicks, QVector<QString>* tickLabels) override;

private:
    Kind kind_;
};

} // namespace lockstep
