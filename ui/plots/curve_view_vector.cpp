// CurveView as SVG.
#include "ui/plots/curve_view_p.h"

#include <QBuffer>
#include <QSvgGenerator>

#include <algorithm>

namespace lockstep {

QByteArray CurveView::svg(const std::vector<CurveView*>& views)
{
    QSize size(0, 0);
    for (const CurveView* view : views)
        size = QSize(std::max(size.width(), view->width()), size.height() + view->height());
    QByteArray out;
    QBuffer buffer(&out);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(size);
    generator.setViewBox(QRect(QPoint(0, 0), size));
    QCPPainter painter;
    if (size.isEmpty() || !painter.begin(&generator))
        return {};
    painter.setMode(QCPPainter::pmVectorized);
    for (CurveView* view : views) {
        view->impl_->plot->toPainter(&painter, view->width(), view->height());
        painter.setClipping(false);
        paintOverlay(painter, view->impl_->overlayContent(), view->size());
        painter.translate(0, view->height());
    }
    painter.end();
    return out;
}

} // namespace lockstep
