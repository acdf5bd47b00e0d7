#include "ui/plots/navigator_view.h"

#include "ui/plots/curve_raster.h"
#include "ui/plots/value_ticker.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

constexpr int kAxisHeight = 18;
constexpr double kHandleReach = 6; // logical pixels at which an edge can be taken

} // namespace

struct NavigatorView::Impl {
    PlotTheme theme = PlotTheme::forApplication();
    std::vector<CurveSeries> series;
    std::vector<CurveMarker> markers;
    QString caption;
    int left = 56, right = 84;
    double low = 0, high = 1;   // window
    double first = 0, last = 1; // whole run
    enum class Grip { None, Window, Lower, Upper } grip = Grip::None;
    double grabbedAt = 0, grabbedLow = 0, grabbedHigh = 0;
    QImage picture; // curves of the whole run; remade when data, theme or size change
    bool stale = true;

    QRectF area(const QSize& size) const
    {
        return QRectF(left, 2, std::max(10, size.width() - left - right),
                      std::max(10, size.height() - kAxisHeight - 2));
    }
    double toX(double step, const QRectF& area) const
    {
        return area.left() + (step - first) / (last - first) * area.width();
    }
    double toStep(double x, const QRectF& area) const
    {
        return first + (x - area.left()) / area.width() * (last - first);
    }
    Grip gripAt(double x, const QRectF& area) const
    {
        const double a = toX(low, area), b = toX(high, area);
        if (std::fabs(x - a) <= kHandleReach && std::fabs(x - a) < std::fabs(x - b))
            return Grip::Lower;
        if (std::fabs(x - b) <= kHandleReach)
            return Grip::Upper;
        return x > a && x < b ? Grip::Window : Grip::None;
    }
    void render(const QSize& size, double ratio);
};

void NavigatorView::Impl::render(const QSize& size, double ratio)
{
    RasterScene scene;
    scene.nonFinite = theme.red.rgba();
    scene.nonPositive = theme.ink3.rgba();
    scene.scale = ratio;
    SeriesNode all;
    for (const CurveSeries& one : series) {
        if (!one.data || one.data->empty())
            continue;
        all.add(one.data->summary());
        scene.curves.push_back({one.data, {one.color.rgba(), ratio}});
    }
    const QRectF box = area(size);
    picture =
        QImage(std::max(1, int(std::lround(box.width() * ratio))),
               std::max(1, int(std::lround(box.height() * ratio))), QImage::Format_ARGB32_Premultiplied);
    if (all.empty())
        all.lo = 0, all.hi = 1;
    double room = (all.hi - all.lo) * 0.08;
    if (!(room > 0) || !std::isfinite(room))
        room = std::max(1.0, std::fabs(all.hi) * 0.01);
    const double from = std::max(all.lo - room, -8e307), to = std::min(all.hi + room, 8e307);
    renderCurves(scene, PlotMapping(first, last, from, to, picture.width(), picture.height()), picture, 2);
    picture.setDevicePixelRatio(ratio);
    stale = false;
}

NavigatorView::NavigatorView(QWidget* parent) : QWidget(parent), impl_(std::make_unique<Impl>())
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Whole run"));
}

NavigatorView::~NavigatorView() = default;

void NavigatorView::setTheme(const PlotTheme& theme)
{
    impl_->theme = theme;
    impl_->stale = true;
    update();
}

void NavigatorView::setSeries(std::vector<CurveSeries> series)
{
    impl_->series = std::move(series);
    double first = std::numeric_limits<double>::infinity(), last = -first;
    for (const CurveSeries& one : impl_->series) {
        if (!one.data || one.data->empty())
            continue;
        first = std::min(first, double(one.data->firstStep()));
        last = std::max(last, double(one.data->lastStep()));
    }
    if (first > last) {
        first = 0;
        last = 1;
    }
    impl_->first = first;
    impl_->last = last + std::max((last - first) * 0.005, 0.05);
    impl_->stale = true;
    update();
}

void NavigatorView::setMarkers(std::vector<CurveMarker> markers)
{
    impl_->markers = std::move(markers);
    update();
}

void NavigatorView::setMargins(int left, int right)
{
    impl_->left = left;
    impl_->right = right;
    impl_->stale = true;
    update();
}

void NavigatorView::setCaption(const QString& caption)
{
    impl_->caption = caption;
    update();
}

void NavigatorView::setXRange(double lower, double upper)
{
    if (!std::isfinite(lower) || !std::isfinite(upper) || !(lower < upper))
        return;
    impl_->low = lower;
    impl_->high = upper;
    setAccessibleDescription(tr("Shows steps %1 to %2.").arg(std::ceil(lower)).arg(std::floor(upper)));
    update();
}

std::pair<double, double> NavigatorView::xRange() const
{
    return {impl_->low, impl_->high};
}

std::pair<double, double> NavigatorView::dataXRange() const
{
    return {impl_->first, impl_->last};
}

QSize NavigatorView::sizeHint() const
{
    return {640, 58};
}

QSize NavigatorView::minimumSizeHint() const
{
    return {200, 44};
}

void NavigatorView::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange || event->type() == QEvent::ApplicationFontChange)
        update();
    QWidget::changeEvent(event);
}

void NavigatorView::paintEvent(QPaintEvent*)
{
    Impl& d = *impl_;
    const QRectF area = d.area(size());
    const double ratio = devicePixelRatioF();
    const QSize wanted(int(std::lround(area.width() * ratio)), int(std::lround(area.height() * ratio)));
    if (d.stale || d.picture.size() != wanted || d.picture.devicePixelRatio() != ratio)
        d.render(size(), ratio);

    QPainter p(this);
    p.fillRect(rect(), d.theme.base);
    p.drawImage(area.topLeft(), d.picture);
    const double a = std::clamp(d.toX(d.low, area), area.left(), area.right());
    const double b = std::clamp(d.toX(d.high, area), area.left(), area.right());
    QColor veil = d.theme.base;
    veil.setAlphaF(0.62f);
    p.fillRect(QRectF(area.topLeft(), QPointF(a, area.bottom())), veil);
    p.fillRect(QRectF(QPointF(b, area.top()), area.bottomRight()), veil);
    p.setPen(QPen(d.theme.line, 1));
    p.drawRect(area.adjusted(0, 0, -1, -1));
    for (const CurveMarker& marker : d.markers) {
        const double x = d.toX(double(marker.step), area);
        if (x < area.left() || x > area.right() || marker.kind != CurveMarker::Kind::Divergence)
            continue;
        p.setPen(QPen(d.theme.red, 1.5));
        p.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom() - 1));
    }
    p.setRenderHint(QPainter::Antialiasing);
    p.setPen(QPen(d.theme.accent, 2));
    p.drawRect(
        QRectF(QPointF(a, area.top()), QPointF(std::max(b, a + 2), area.bottom() - 1)).adjusted(1, 1, -1, 0));
    p.setPen(Qt::NoPen);
    p.setBrush(d.theme.accent);
    for (const double x : {a + 1, b - 1})
        p.drawRoundedRect(QRectF(x - 3, area.center().y() - 8, 6, 16), 2, 2);

    p.setFont(PlotTheme::labelFont());
    p.setPen(d.theme.ink2);
    const ValueTicks ticks = stepTicks(d.first, d.last, std::max(2, int(area.width() / 160)));
    for (int i = 0; i < ticks.major.size(); ++i)
        p.drawText(QRectF(d.toX(ticks.major[i], area) - 40, area.bottom() + 2, 80, kAxisHeight - 2),
                   Qt::AlignHCenter | Qt::AlignTop, ticks.labels[i]);
    if (!d.caption.isEmpty())
        p.drawText(QRectF(area.right() + 7, area.top(), width() - area.right() - 9, area.height()),
                   Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, d.caption);
    if (hasFocus()) {
        p.setPen(QPen(d.theme.accent, 2));
        p.setBrush(Qt::NoBrush);
        p.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);
    }
}

void NavigatorView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    Impl& d = *impl_;
    const QRectF area = d.area(size());
    const double x = event->position().x(), step = d.toStep(x, area);
    d.grip = d.gripAt(x, area);
    if (d.grip == Impl::Grip::None) { // outside: the window jumps here and can be dragged on
        const double half = (d.high - d.low) / 2;
        setXRange(step - half, step + half);
        Q_EMIT xRangeChanged(d.low, d.high);
        d.grip = Impl::Grip::Window;
    }
    d.grabbedAt = step;
    d.grabbedLow = d.low;
    d.grabbedHigh = d.high;
}

void NavigatorView::mouseMoveEvent(QMouseEvent* event)
{
    Impl& d = *impl_;
    const QRectF area = d.area(size());
    const double x = event->position().x();
    if (d.grip == Impl::Grip::None) {
        const auto over = d.gripAt(x, area);
        setCursor(over == Impl::Grip::Lower || over == Impl::Grip::Upper ? Qt::SplitHCursor
                  : over == Impl::Grip::Window                           ? Qt::OpenHandCursor
                                                                         : Qt::ArrowCursor);
        return;
    }
    const double by = d.toStep(x, area) - d.grabbedAt;
    const double smallest = std::max((d.last - d.first) * 1e-6, 1e-3);
    double low = d.grabbedLow, high = d.grabbedHigh;
    if (d.grip == Impl::Grip::Window) {
        low += by;
        high += by;
    } else if (d.grip == Impl::Grip::Lower) {
        low = std::min(low + by, high - smallest);
    } else {
        high = std::max(high + by, low + smallest);
    }
    setXRange(low, high);
    Q_EMIT xRangeChanged(d.low, d.high);
}

void NavigatorView::mouseReleaseEvent(QMouseEvent*)
{
    impl_->grip = Impl::Grip::None;
}

void NavigatorView::mouseDoubleClickEvent(QMouseEvent*)
{
    setXRange(impl_->first, impl_->last);
    Q_EMIT xRangeChanged(impl_->low, impl_->high);
}

void NavigatorView::wheelEvent(QWheelEvent* event)
{
    Impl& d = *impl_;
    const double factor = std::pow(1.25, -event->angleDelta().y() / 120.0);
    const double centre = d.toStep(event->position().x(), d.area(size()));
    setXRange(centre - (centre - d.low) * factor, centre + (d.high - centre) * factor);
    Q_EMIT xRangeChanged(d.low, d.high);
}

void NavigatorView::keyPressEvent(QKeyEvent* event)
{
    Impl& d = *impl_;
    const double width = d.high - d.low, middle = (d.low + d.high) / 2;
    const double by = width * (event->modifiers() & Qt::ShiftModifier ? 1.0 : 0.1);
    switch (event->key()) {
    case Qt::Key_Left:
        setXRange(d.low - by, d.high - by);
        break;
    case Qt::Key_Right:
        setXRange(d.low + by, d.high + by);
        break;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        setXRange(middle - width / 3.2, middle + width / 3.2);
        break;
    case Qt::Key_Minus:
        setXRange(middle - width * 0.8, middle + width * 0.8);
        break;
    case Qt::Key_F:
        setXRange(d.first, d.last);
        break;
    default:
        QWidget::keyPressEvent(event);
        return;
    }
    Q_EMIT xRangeChanged(d.low, d.high);
}

} // namespace lockstep
