// Both ranges of CurveView: what is visible, what the axes show, and where steps and values lie in the widget.
#include "ui/plots/curve_view_p.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep {

void CurveView::setYScale(YScale scale, double symlogThreshold)
{
    impl_->transform.scale = scale;
    if (symlogThreshold > 0 && std::isfinite(symlogThreshold))
        impl_->transform.threshold = symlogThreshold;
    impl_->rebuildScene();
    impl_->refresh();
}

YScale CurveView::yScale() const
{
    return impl_->transform.scale;
}

void CurveView::setXScale(XScale scale)
{
    if (scale == impl_->xTransform.scale)
        return;
    impl_->xTransform.scale = scale;
    impl_->layer->xTransform = impl_->xTransform;
    impl_->refresh();
}

XScale CurveView::xScale() const
{
    return impl_->xTransform.scale;
}

void CurveView::setYRange(std::optional<std::pair<double, double>> range)
{
    impl_->fixedY = range && range->first < range->second ? range : std::nullopt;
    impl_->refresh();
}

std::pair<double, double> CurveView::yRange() const
{
    const QCPRange range = impl_->plot->yAxis->range();
    return {impl_->transform.backward(range.lower), impl_->transform.backward(range.upper)};
}

void CurveView::setXRange(double lower, double upper)
{
    if (!std::isfinite(lower) || !std::isfinite(upper) || !(lower < upper))
        return;
    impl_->low = lower;
    impl_->high = upper;
    impl_->ranged = true;
    impl_->refresh();
}

std::pair<double, double> CurveView::xRange() const
{
    return {impl_->low, impl_->high};
}

std::pair<double, double> CurveView::dataXRange() const
{
    double first = std::numeric_limits<double>::infinity(), last = -first;
    for (const CurveSeries& one : impl_->series) {
        if (!hasValues(one.data))
            continue;
        first = std::min(first, double(one.data->firstStep()));
        last = std::max(last, double(one.data->lastStep()));
    }
    if (first > last)
        return {0, 1};
    // The last step gets a little room: its value, or its NaN, stands inside the plot and not on the border.
    return {first, last + std::max((last - first) * 0.005, 0.05)};
}

void CurveView::fit()
{
    const auto [first, last] = dataXRange();
    impl_->followAll = true;
    impl_->fixedY.reset();
    setXRange(first, last);
}

void CurveView::setFollowing(bool following)
{
    impl_->following = following;
    const auto [first, last] = dataXRange();
    impl_->followAll = impl_->low <= first;
    if (following && !impl_->series.empty())
        impl_->followAll ? setXRange(first, last) : setXRange(last - (impl_->high - impl_->low), last);
}

bool CurveView::following() const
{
    return impl_->following;
}

// y limits of what is visible, in coordinates of the transform.
std::pair<double, double> CurveView::Impl::visibleY() const
{
    SeriesNode node;
    double positive = std::numeric_limits<double>::infinity();
    const bool log = transform.scale == YScale::Log;
    const auto look = [&](const SeriesSnapshot::Ptr& data) {
        if (!hasValues(data))
            return;
        const std::size_t begin = data->lowerBound(low);
        const std::size_t end =
            data->lowerBound(std::nextafter(high, std::numeric_limits<double>::infinity()));
        const std::size_t from = begin < end ? begin : begin > 0 ? begin - 1 : 0;
        const std::size_t to = begin < end ? end : std::min(data->size(), end + 1);
        node.add(data->query(from, to));
        if (log)
            positive = std::min(positive, data->smallestPositive(from, to));
    };
    for (const CurveSeries& one : series)
        look(one.data);
    for (const CurveBand& band : bands) {
        look(band.lower);
        look(band.upper);
    }
    if (log)
        node.lo = positive;
    if (node.empty() || !std::isfinite(node.lo))
        return log ? std::pair{-1.0, 1.0} : std::pair{0.0, 1.0};
    double from = transform.forward(node.lo), to = transform.forward(node.hi);
    if (transform.scale == YScale::Symlog) { // zero always shows
        from = std::min(from, -1.0);
        to = std::max(to, 1.0);
    }
    const double size = std::max(std::fabs(from), std::fabs(to));
    const double smallest = std::max(size * 1e-12, 1e-300);
    const double room = to - from > smallest ? (to - from) * 0.06 : std::max(size * 0.1, 0.5 * smallest);
    from -= room;
    to += room;
    if (!std::isfinite(to - from)) // values near the largest double
        return {std::max(from, -1e308), std::min(to, 0.7e308)};
    if (!(from < to))
        return {from - 1, to + 1};
    return {from, to};
}

void CurveView::Impl::refresh()
{
    const auto [lowY, highY] =
        fixedY ? std::pair{transform.forward(fixedY->first), transform.forward(fixedY->second)} : visibleY();
    // A range that begins before step 0 shows nothing there.
    const double least = xTransform.scale == XScale::Log ? std::max(low, 0.0) : low;
    plot->xAxis->setRange(xTransform.forward(least), xTransform.forward(std::max(high, least + 1e-3)));
    plot->yAxis->setRange(lowY, std::isfinite(lowY) ? highY : lowY + 1);
    const int width = q->width() - leftMargin - rightMargin, height = q->height() - 30;
    xTicker->target = std::max(2, width / 64);
    yTicker->target = std::clamp(height / (transform.scale == YScale::Symlog ? 18 : 38), 2, 9);
    yTicker->transform = transform;
    xTicker->xTransform = xTransform;
    // On a log axis coordinate 0 is the value 1, which is nothing special.
    plot->yAxis->grid()->setZeroLinePen(transform.scale == YScale::Log ? QPen(Qt::NoPen)
                                                                       : QPen(theme.line, 1));
    const bool any = !layer->scene.curves.empty() || !layer->scene.bands.empty();
    plot->yAxis->setTickLabels(any);
    plot->xAxis->setTickLabels(any && xAxisVisible);
    plot->replot(QCustomPlot::rpQueuedReplot);
}

QRect CurveView::plotArea() const
{
    return impl_->plot->axisRect()->rect();
}

PlotMapping CurveView::mapping() const
{
    return impl_->layer->mapping(devicePixelRatioF());
}

double CurveView::Impl::stepToX(double step) const
{
    return plot->xAxis->coordToPixel(xTransform.forward(step));
}

double CurveView::Impl::xToStep(double x) const
{
    return xTransform.backward(plot->xAxis->pixelToCoord(x));
}

double CurveView::Impl::valueToY(double value) const
{
    return plot->yAxis->coordToPixel(std::clamp(transform.forward(value), -1e300, 1e300));
}

} // namespace lockstep
