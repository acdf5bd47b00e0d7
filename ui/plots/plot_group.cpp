#include "ui/plots/plot_group.h"

#include "ui/plots/curve_view.h"
#include "ui/plots/heatmap_view.h"
#include "ui/plots/navigator_view.h"

#include <QDateTime>

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

constexpr std::size_t kHistory = 200;
constexpr qint64 kSameGestureMs = 600; // range changes closer together are one zoom or pan

template<typename View, typename Call>
void each(std::vector<QPointer<View>>& views, Call call)
{
    for (const QPointer<View>& view : views)
        if (view)
            call(view.data());
}

} // namespace

PlotGroup::PlotGroup(QObject* parent) : QObject(parent)
{
}

void PlotGroup::add(CurveView* view)
{
    if (curves_.empty())
        range_ = view->xRange();
    else
        view->setXRange(range_.first, range_.second);
    curves_.emplace_back(view);
    view->setCursorStep(cursor_);
    connect(view, &CurveView::xRangeChanged, this, &PlotGroup::setXRange);
    connect(view, &CurveView::cursorStepChanged, this, &PlotGroup::setCursorStep);
    connect(view, &CurveView::followingChanged, this, &PlotGroup::setFollowing);
    connect(view, &CurveView::hoverTextChanged, this, &PlotGroup::hoverTextChanged);
}

void PlotGroup::add(NavigatorView* view)
{
    navigators_.emplace_back(view);
    view->setXRange(range_.first, range_.second);
    connect(view, &NavigatorView::xRangeChanged, this, [this](double lower, double upper) {
        setFollowing(false);
        setXRange(lower, upper);
    });
}

void PlotGroup::add(HeatmapView* view)
{
    heatmaps_.emplace_back(view);
    if (curves_.empty() && navigators_.empty() && heatmaps_.size() == 1)
        range_ = view->xRange();
    else
        view->setXRange(range_.first, range_.second);
    view->setCursorStep(cursor_);
    connect(view, &HeatmapView::xRangeChanged, this, [this](double lower, double upper) {
        setFollowing(false);
        setXRange(lower, upper);
    });
    connect(view, &HeatmapView::cursorStepChanged, this, &PlotGroup::setCursorStep);
    connect(view, &HeatmapView::hoverTextChanged, this, &PlotGroup::hoverTextChanged);
}

void PlotGroup::apply(double lower, double upper)
{
    range_ = {lower, upper};
    each(curves_, [&](CurveView* view) { view->setXRange(lower, upper); });
    each(navigators_, [&](NavigatorView* view) { view->setXRange(lower, upper); });
    each(heatmaps_, [&](HeatmapView* view) { view->setXRange(lower, upper); });
    Q_EMIT xRangeChanged(lower, upper);
}

void PlotGroup::remember()
{
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    if (now - lastChangeMs_ > kSameGestureMs || past_.empty()) {
        past_.push_back(range_);
        if (past_.size() > kHistory)
            past_.erase(past_.begin());
    }
    lastChangeMs_ = now;
    future_.clear();
    Q_EMIT zoomHistoryChanged();
}

void PlotGroup::setXRange(double lower, double upper)
{
    if (!std::isfinite(lower) || !std::isfinite(upper) || !(lower < upper))
        return;
    if (range_ == std::pair{lower, upper})
        return;
    remember();
    apply(lower, upper);
}

void PlotGroup::setCursorStep(std::optional<qint64> step)
{
    if (cursor_ == step)
        return;
    cursor_ = step;
    each(curves_, [&](CurveView* view) { view->setCursorStep(step); });
    each(heatmaps_, [&](HeatmapView* view) { view->setCursorStep(step); });
    Q_EMIT cursorStepChanged(step);
}

void PlotGroup::setFollowing(bool following)
{
    if (following_ == following)
        return;
    following_ = following;
    // The group moves the range (fit), so that all plots follow the longest series.
    if (following)
        fit();
    Q_EMIT followingChanged(following);
}

void PlotGroup::fit()
{
    double first = std::numeric_limits<double>::infinity(), last = -first;
    each(curves_, [&](CurveView* view) {
        if (std::none_of(view->series().begin(), view->series().end(),
                         [](const CurveSeries& s) { return s.data && !s.data->empty(); }))
            return;
        const auto [low, high] = view->dataXRange();
        first = std::min(first, low);
        last = std::max(last, high);
    });
    each(heatmaps_, [&](HeatmapView* view) {
        if (!view->hasData())
            return;
        const auto [low, high] = view->dataXRange();
        first = std::min(first, low);
        last = std::max(last, high);
    });
    if (first < last)
        apply(first, last);
}

void PlotGroup::undoZoom()
{
    if (past_.empty())
        return;
    future_.push_back(range_);
    const auto [lower, upper] = past_.back();
    past_.pop_back();
    lastChangeMs_ = 0;
    apply(lower, upper);
    Q_EMIT zoomHistoryChanged();
}

void PlotGroup::redoZoom()
{
    if (future_.empty())
        return;
    past_.push_back(range_);
    const auto [lower, upper] = future_.back();
    future_.pop_back();
    lastChangeMs_ = 0;
    apply(lower, upper);
    Q_EMIT zoomHistoryChanged();
}

} // namespace lockstep
