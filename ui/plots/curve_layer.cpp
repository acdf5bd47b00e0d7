#include "ui/plots/curve_layer.h"

#include "ui/plots/curve_vector.h"

namespace lockstep {

RasterScene scaledScene(RasterScene scene, double ratio)
{
    const auto scale = [ratio](RasterPen& pen) {
        pen.width *= ratio;
        pen.dashOn *= ratio;
        pen.dashOff *= ratio;
    };
    for (RasterBand& band : scene.bands)
        scale(band.edge);
    for (RasterCurve& curve : scene.curves)
        scale(curve.pen);
    scene.scale = ratio;
    return scene;
}

PlotMapping CurveLayer::mapping(double ratio) const
{
    const QRect rect = mKeyAxis->axisRect()->rect();
    const QCPRange x = mKeyAxis->range(), y = mValueAxis->range();
    return PlotMapping::fromCoordinates(x.lower, x.upper, y.lower, y.upper,
                                        int(std::lround(rect.width() * ratio)),
                                        int(std::lround(rect.height() * ratio)), transform, xTransform);
}

QCPRange CurveLayer::getKeyRange(bool& found, QCP::SignDomain) const
{
    found = false; // ranges are set by the view, from the snapshots
    return {};
}

QCPRange CurveLayer::getValueRange(bool& found, QCP::SignDomain, const QCPRange&) const
{
    found = false;
    return {};
}

QRect CurveLayer::clipRect() const
{
    // QCPLayer clips every layerable one row higher than its rectangle.
    return QCPAbstractPlottable::clipRect().translated(0, 1);
}

void CurveLayer::draw(QCPPainter* painter)
{
    if (scene.curves.empty() && scene.bands.empty())
        return;
    if (painter->modes().testFlag(QCPPainter::pmVectorized)) {
        paintVector(*painter, scene, mapping(1), mKeyAxis->axisRect()->rect().topLeft());
        return;
    }
    const double ratio = painter->device()->devicePixelRatioF();
    const PlotMapping map = mapping(ratio);
    if (image_.width() != map.width() || image_.height() != map.height())
        image_ = QImage(map.width(), map.height(), QImage::Format_ARGB32_Premultiplied);
    image_.setDevicePixelRatio(1); // the renderer paints device pixels
    renderCurves(scaledScene(scene, ratio), map, image_, threadsFor(scene, map, threads));
    image_.setDevicePixelRatio(ratio);
    painter->setAntialiasing(false); // on, QCPPainter would shift the image by half a pixel
    painter->drawImage(mKeyAxis->axisRect()->rect().topLeft(), image_);
}

} // namespace lockstep
