// The plots of the Curves page over one x axis: loss, its difference to the reference with the tolerance, gradient norm, the
// whole run below, and a slider for the step under the cursor.
#pragma once

#include "ui/models/comparison_model.h"
#include "ui/pages/curve_looks.h"
#include "ui/plots/curve_view.h"

#include <QWidget>

class QHBoxLayout;
class QSlider;

namespace lockstep {

class NavigatorView;
class PlotGroup;

class CurvePlots : public QWidget
{
    Q_OBJECT

public:
    explicit CurvePlots(QWidget* parent = nullptr);

    struct Pictures {
        CurvePicture loss, delta, grad;
        double symlogThreshold = 1e-6;
        bool anything = false; // at least one run was read
        bool live = false;     // the newest step stays in view until the user pans
    };
    void showPictures(Pictures pictures, const QString& navigatorCaption);
    void setReference(const QString& name); // empty: none
    // Where the runs part, in the x axis shown; negative: nowhere. `step` is what the chip says.
    void setDivergence(qint64 x, qint64 step);
    void setTolerance(const RunComparison* comparison); // null: no band
    void setXAxis(XScale scale, XUnit unit);
    void setSmoothing(double weight);
    // The next picture is shown from its first to its last step, unless a range was set since.
    void fitAgain() { fitted_ = false; }
    void keepRange() { fitted_ = true; }
    void nextScale(); // of the plot under focus
    void applyTheme();

    PlotGroup* group() const { return group_; }
    CurveView* loss() const { return loss_; }
    std::vector<CurveView*> views() const { return {loss_, delta_, grad_}; }

private:
    void updateSlider();
    void setRightMargin(int right); // of all plots, so that they line up

    PlotGroup* group_;
    CurveView *loss_, *delta_, *grad_;
    NavigatorView* navigator_;
    QSlider* slider_;
    QHBoxLayout* under_ = nullptr;
    int right_ = 0;
    double symlogThreshold_ = 1e-6;
    bool fitted_ = false;
};

} // namespace lockstep
