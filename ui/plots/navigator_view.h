// The whole run in a low strip with a draggable window: the x range that the plots above show. GUI thread
// only.
//
// Mouse: drag the window or one of its edges; click outside centres it; double-click shows everything.
// Keys: Left/Right move, +/- narrow and widen, F everything.
#pragma once

#include "ui/plots/curve_view.h"

namespace lockstep {

class NavigatorView : public QWidget
{
    Q_OBJECT
public:
    explicit NavigatorView(QWidget* parent = nullptr);
    ~NavigatorView() override;

    void setTheme(const PlotTheme& theme);
    void setSeries(std::vector<CurveSeries> series);
    void setMarkers(std::vector<CurveMarker> markers);
    void setMargins(int left, int right);    // as CurveView::setMargins
    void setCaption(const QString& caption); // at the right, e.g. "whole run\n240 steps"
    void setXRange(double lower, double upper);
    std::pair<double, double> xRange() const;
    std::pair<double, double> dataXRange() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void xRangeChanged(double lower, double upper); // by the user only

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace lockstep
