// The inside of CurveView, shared by its source files: curve_view (construction, look), curve_view_data (series, scene,
// smoothing), curve_view_range (x and y range), curve_view_readout (cursor, values, overlay), curve_view_input.
#pragma once

#include "ui/plots/curve_layer.h"
#include "ui/plots/curve_overlay.h"
#include "ui/plots/curve_view.h"
#include "ui/plots/value_ticker.h"

#include <QPointer>

#include <map>

namespace lockstep {

inline bool hasValues(const SeriesSnapshot::Ptr& data)
{
    return data && !data->empty();
}

struct CurveView::Impl {
    explicit Impl(CurveView* view);

    CurveView* q;
    QCustomPlot* plot; // child of q, as the next
    CurveOverlay* overlay;
    CurveLayer* layer; // owned by plot
    QSharedPointer<ValueTicker> xTicker, yTicker;

    PlotTheme theme = PlotTheme::forApplication();
    QString title, emptyText, xCaption;
    std::vector<CurveSeries> series;
    std::vector<CurveBand> bands;
    std::vector<CurveMarker> markers;
    std::vector<CurveNote> notes;
    YTransform transform;
    XTransform xTransform;
    XUnit xUnit = XUnit::Step;
    std::optional<std::pair<double, double>> fixedY;
    double low = 0, high = 1; // x range
    bool ranged = false;      // somebody chose the x range; else the first data are fitted
    bool following = false;
    bool followAll = true; // while following: whole run, else a window of constant width
    std::optional<qint64> cursor;
    bool pinned = false;
    bool hovered = false; // the pointer is here: this plot shows the read-out
    bool interactive = true;
    bool xAxisVisible = true;
    int leftMargin = 56, rightMargin = 84;

    // Smoothing: results by snapshot; a job whose generation is old is dropped when it arrives.
    double smoothing = 0;
    quint64 smoothingGeneration = 0;
    std::map<const SeriesSnapshot*, SeriesSnapshot::Ptr> smoothedOf;
    std::shared_ptr<int> alive = std::make_shared<int>(0);

    // Mouse
    enum class Drag { None, Pan, Select } drag = Drag::None;
    QPointF dragFrom, dragLast;
    std::optional<std::pair<double, double>> selection; // steps
    bool moved = false;

    void applyTheme();
    void applyMargins();
    void rebuildScene();
    void startSmoothing();
    void refresh(); // y range, axes, replot
    std::pair<double, double> visibleY() const;
    OverlayContent overlayContent() const;
    double stepToX(double step) const;
    double xToStep(double x) const;
    double valueToY(double value) const;

    // By the user
    void userRange(double newLow, double newHigh);
    // Both ends moved by this much of the visible width.
    void userPan(double part);
    void userZoom(double factor, double centre);
    void userCursor(std::optional<qint64> step);
    void moveCursor(qint64 by);
    void hoverAt(const QPointF& position);
    std::optional<qint64> nearestStep(double x) const;
    void cycleScale();
    bool mousePress(QMouseEvent* event);
    bool mouseMove(QMouseEvent* event);
    bool mouseRelease(QMouseEvent* event);
    bool wheel(QWheelEvent* event);
};

} // namespace lockstep
