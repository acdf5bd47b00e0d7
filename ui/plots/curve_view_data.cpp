// What CurveView shows: series, bands, markers and notes, the scene made of them, and smoothing.
#include "ui/plots/curve_view_p.h"

#include "ui/plots/series_math.h"

#include <QThreadPool>

#include <algorithm>

namespace lockstep {

namespace {

RasterPen penOf(CurveStyle style, QColor color)
{
    RasterPen pen;
    switch (style) {
    case CurveStyle::Single:
        pen.width = 3;
        break;
    case CurveStyle::Mean:
        pen.width = 1.8;
        break;
    case CurveStyle::Rank:
        pen.width = 1;
        color.setAlphaF(color.alphaF() * 0.55f);
        break;
    case CurveStyle::Twin:
        pen.width = 1.2;
        pen.dashOn = 5;
        pen.dashOff = 4;
        break;
    case CurveStyle::Thin:
        pen.width = 1.2;
        break;
    }
    pen.color = color.rgba();
    return pen;
}

} // namespace

void CurveView::setSeries(std::vector<CurveSeries> series)
{
    impl_->series = std::move(series);
    impl_->startSmoothing();
    impl_->rebuildScene();
    if (!impl_->ranged || impl_->following) {
        const auto [first, last] = dataXRange();
        const double width = impl_->high - impl_->low;
        if (!impl_->ranged || impl_->followAll)
            setXRange(first, last);
        else
            setXRange(last - width, last);
        impl_->ranged = impl_->ranged && impl_->following;
    }
    setAccessibleDescription(textSummary());
    impl_->refresh();
}

const std::vector<CurveSeries>& CurveView::series() const
{
    return impl_->series;
}

void CurveView::setBands(std::vector<CurveBand> bands)
{
    impl_->bands = std::move(bands);
    impl_->rebuildScene();
    impl_->refresh();
}

void CurveView::setMarkers(std::vector<CurveMarker> markers)
{
    impl_->markers = std::move(markers);
    impl_->applyMargins();
    impl_->refresh();
}

void CurveView::setNotes(std::vector<CurveNote> notes)
{
    impl_->notes = std::move(notes);
    impl_->overlay->update();
}

void CurveView::Impl::rebuildScene()
{
    RasterScene& scene = layer->scene;
    scene.bands.clear();
    scene.curves.clear();
    for (const CurveBand& band : bands) {
        if (!hasValues(band.lower) || !hasValues(band.upper))
            continue;
        RasterPen edge;
        edge.color = band.edge.isValid() ? band.edge.rgba() : 0;
        scene.bands.push_back({band.lower, band.upper, band.fill.rgba(), edge});
    }
    for (const CurveSeries& one : series) {
        if (!hasValues(one.data))
            continue;
        const auto smooth = smoothing > 0 ? smoothedOf.find(one.data.get()) : smoothedOf.end();
        if (smooth == smoothedOf.end()) {
            scene.curves.push_back({one.data, penOf(one.style, one.color)});
            continue;
        }
        QColor faint = one.color;
        faint.setAlphaF(faint.alphaF() * 0.25f);
        scene.curves.push_back({one.data, penOf(CurveStyle::Thin, faint)});
        scene.curves.push_back({smooth->second, penOf(one.style, one.color)});
    }
    layer->transform = transform;
}

void CurveView::setSmoothing(double weight)
{
    impl_->smoothing = std::clamp(weight, 0.0, 0.999999);
    impl_->smoothedOf.clear();
    impl_->startSmoothing();
    impl_->rebuildScene();
    impl_->refresh();
}

double CurveView::smoothing() const
{
    return impl_->smoothing;
}

void CurveView::Impl::startSmoothing()
{
    ++smoothingGeneration;
    std::map<const SeriesSnapshot*, SeriesSnapshot::Ptr> kept;
    for (const CurveSeries& one : series) {
        if (smoothing <= 0 || !hasValues(one.data))
            continue;
        const auto known = smoothedOf.find(one.data.get());
        if (known != smoothedOf.end()) {
            kept.insert(*known);
            continue;
        }
        // The job owns the snapshot; `alive` is looked at on the GUI thread only, so a closed view is never
        // touched.
        QThreadPool::globalInstance()->start([this, data = one.data, weight = smoothing,
                                              generation = smoothingGeneration,
                                              guard = std::weak_ptr<int>(alive)] {
            SeriesSnapshot::Ptr result = smoothed(*data, weight);
            QMetaObject::invokeMethod(
                qApp,
                [this, data, result, generation, guard] {
                    if (guard.expired() || generation != smoothingGeneration)
                        return;
                    smoothedOf[data.get()] = result;
                    rebuildScene();
                    refresh();
                },
                Qt::QueuedConnection);
        });
    }
    smoothedOf = std::move(kept);
}

} // namespace lockstep
