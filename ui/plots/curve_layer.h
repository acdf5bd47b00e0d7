// The plottable that puts a rendered scene into a QCustomPlot. Private to ui/plots.
#pragma once

#include "ui/plots/curve_raster.h"

#include "ui/plots/qcustomplot_include.h"

namespace lockstep {

// One plottable draws all series of its axis rectangle, so a frame costs one blend. Its axes are linear in
// YTransform::forward(value); QCustomPlot never sees the values.
class CurveLayer : public QCPAbstractPlottable
{
public:
    CurveLayer(QCPAxis* keyAxis, QCPAxis* valueAxis) : QCPAbstractPlottable(keyAxis, valueAxis) {}

    RasterScene scene; // pens in logical pixels; scaled when drawn
    YTransform transform;
    XTransform xTransform;
    int threads = 2;

    PlotMapping mapping(double devicePixelRatio) const;

    double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }
    QCPRange getKeyRange(bool& found, QCP::SignDomain) const override;
    QCPRange getValueRange(bool& found, QCP::SignDomain, const QCPRange&) const override;

protected:
    QRect clipRect() const override;
    void draw(QCPPainter* painter) override;
    void drawLegendIcon(QCPPainter*, const QRectF&) const override {}

private:
    QImage image_;
};

// `scene` with all lengths multiplied by the pixel ratio.
RasterScene scaledScene(RasterScene scene, double devicePixelRatio);

} // namespace lockstep
