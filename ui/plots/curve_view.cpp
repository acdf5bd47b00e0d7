// CurveView is made here; look and size. Its other subjects have files of their own, see curve_view_p.h.
#include "ui/plots/curve_accessible.h"
#include "ui/plots/curve_view_p.h"

namespace lockstep {

CurveView::Impl::Impl(CurveView* view) : q(view)
{
    plot = new QCustomPlot(view);
    plot->setAttribute(Qt::WA_TransparentForMouseEvents);
    plot->setFocusPolicy(Qt::NoFocus);
    plot->setInteractions({});
    plot->setNoAntialiasingOnDrag(false);
    plot->axisRect()->setAutoMargins(QCP::msNone);
    plot->axisRect()->setupFullAxesBox(false);
    plot->xAxis2->setVisible(false);
    plot->yAxis2->setVisible(false);
    layer = new CurveLayer(plot->xAxis, plot->yAxis);
    xTicker.reset(new ValueTicker(ValueTicker::Kind::Step));
    yTicker.reset(new ValueTicker(ValueTicker::Kind::Value));
    plot->xAxis->setTicker(xTicker);
    plot->yAxis->setTicker(yTicker);
    plot->xAxis->setSubTicks(false);
    overlay = new CurveOverlay(view);
    overlay->content = [this] { return overlayContent(); };
    overlay->installEventFilter(view);
    QObject::connect(plot, &QCustomPlot::afterReplot, overlay, qOverload<>(&QWidget::update));
}

CurveView::CurveView(QWidget* parent) : QWidget(parent), impl_(std::make_unique<Impl>(this))
{
    CurveAccessible::install();
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    impl_->applyTheme();
    impl_->applyMargins();
    impl_->refresh();
}

CurveView::~CurveView() = default;

void CurveView::Impl::applyTheme()
{
    plot->setBackground(QBrush(theme.base));
    for (QCPAxis* axis : {plot->xAxis, plot->yAxis}) {
        axis->setBasePen(QPen(theme.ink3, 1));
        axis->setTickPen(QPen(theme.ink3, 1));
        axis->setSubTickPen(QPen(theme.line, 1));
        axis->setTickLength(0, 4);
        axis->setSubTickLength(0, 2);
        axis->setTickLabelColor(theme.ink2);
        axis->setTickLabelFont(PlotTheme::labelFont());
        axis->setTickLabelPadding(4);
        axis->grid()->setPen(QPen(theme.line2, 1));
        axis->grid()->setZeroLinePen(Qt::NoPen);
        axis->grid()->setAntialiased(false);
        axis->setAntialiased(false);
    }
    layer->scene.nonFinite = theme.red.rgba();
    layer->scene.nonPositive = theme.ink3.rgba();
}

void CurveView::Impl::applyMargins()
{
    const bool strip = !title.isEmpty() || !markers.empty();
    plot->axisRect()->setMargins(QMargins(leftMargin, strip ? OverlayContent::kTitleStrip + 2 : 6,
                                          rightMargin, xAxisVisible ? 24 : 8));
}

void CurveView::setTitle(const QString& title)
{
    impl_->title = title;
    setAccessibleName(title);
    impl_->applyMargins();
    impl_->refresh();
}

QString CurveView::title() const
{
    return impl_->title;
}

void CurveView::setTheme(const PlotTheme& theme)
{
    impl_->theme = theme;
    impl_->applyTheme();
    impl_->refresh();
}

void CurveView::setEmptyText(const QString& text)
{
    impl_->emptyText = text;
    impl_->overlay->update();
}

void CurveView::setMargins(int left, int right)
{
    impl_->leftMargin = left;
    impl_->rightMargin = right;
    impl_->applyMargins();
    impl_->refresh();
}

void CurveView::setXAxisVisible(bool visible)
{
    impl_->xAxisVisible = visible;
    impl_->applyMargins();
    impl_->refresh();
}

void CurveView::setXAxisCaption(const QString& caption)
{
    impl_->xCaption = caption;
    impl_->overlay->update();
}

void CurveView::setInteractive(bool interactive)
{
    impl_->interactive = interactive;
    setFocusPolicy(interactive ? Qt::StrongFocus : Qt::NoFocus);
}

QSize CurveView::sizeHint() const
{
    return {640, 220};
}

QSize CurveView::minimumSizeHint() const
{
    return {200, 110};
}

void CurveView::resizeEvent(QResizeEvent*)
{
    impl_->plot->setGeometry(rect());
    impl_->overlay->setGeometry(rect());
    impl_->overlay->raise();
    impl_->refresh();
}

void CurveView::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange || event->type() == QEvent::ApplicationFontChange) {
        impl_->applyTheme();
        impl_->refresh();
    }
    QWidget::changeEvent(event);
}

} // namespace lockstep
