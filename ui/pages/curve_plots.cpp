#include "ui/pages/curve_plots.h"

#include "ui/plots/navigator_view.h"
#include "ui/plots/plot_group.h"

#include <QSignalBlocker>
#include <QSlider>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

namespace lockstep {

namespace {

constexpr int kLeft = 64; // numbers of the y axis

} // namespace

CurvePlots::CurvePlots(QWidget* parent)
    : QWidget(parent),
      group_(new PlotGroup(this)),
      loss_(new CurveView(this)),
      delta_(new CurveView(this)),
      grad_(new CurveView(this)),
      navigator_(new NavigatorView(this)),
      slider_(new QSlider(Qt::Horizontal, this))
{
    loss_->setTitle(tr("loss, mean over ranks"));
    grad_->setTitle(tr("gradient norm after reduction, log"));
    loss_->setEmptyText(tr("No values yet. Curves appear with the first recorded step."));
    delta_->setEmptyText(tr("Shown once two runs have a step in common."));
    grad_->setEmptyText(tr("No gradient norm is recorded."));
    loss_->setObjectName(QStringLiteral("lossPlot"));
    delta_->setObjectName(QStringLiteral("deltaPlot"));
    grad_->setObjectName(QStringLiteral("gradPlot"));
    grad_->setYScale(YScale::Log);
    setReference({});
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 6);
    column->setSpacing(2);
    const std::pair<CurveView*, int> heights[] = {{loss_, 130}, {delta_, 110}, {grad_, 100}};
    const int stretch[] = {40, 32, 28};
    for (int i = 0; i < 3; ++i) {
        CurveView* view = heights[i].first;
        view->setMinimumHeight(heights[i].second);
        view->setXAxisVisible(i == 2);
        group_->add(view);
        column->addWidget(view, stretch[i]);
    }
    setXAxis(XScale::Linear, XUnit::Step);
    slider_->setObjectName(QStringLiteral("stepSlider"));
    slider_->setAccessibleName(tr("Step"));
    slider_->setToolTip(tr("Step under the cursor of all plots"));
    under_ = new QHBoxLayout; // under the plot areas
    under_->addWidget(slider_);
    column->addLayout(under_);
    setRightMargin(endLabelMargin({}));
    navigator_->setFixedHeight(58);
    group_->add(navigator_);
    column->addWidget(navigator_);
    connect(slider_, &QSlider::valueChanged, this, [this](int x) { loss_->moveCursorTo(x); });
    connect(group_, &PlotGroup::cursorStepChanged, this, &CurvePlots::updateSlider);
}

void CurvePlots::setRightMargin(int right)
{
    if (right == right_)
        return;
    right_ = right;
    for (CurveView* view : views())
        view->setMargins(kLeft, right);
    navigator_->setMargins(kLeft, right);
    under_->setContentsMargins(kLeft - 6, 0, right - 6, 0);
}

void CurvePlots::showPictures(Pictures pictures, const QString& navigatorCaption)
{
    setRightMargin(endLabelMargin({&pictures.loss, &pictures.delta, &pictures.grad}));
    symlogThreshold_ = pictures.symlogThreshold;
    std::vector<CurveSeries> whole;
    for (const CurveSeries& one : pictures.loss.series)
        if (one.style != CurveStyle::Rank)
            whole.push_back(one);
    navigator_->setSeries(std::move(whole));
    navigator_->setCaption(navigatorCaption);
    loss_->setBands(std::move(pictures.loss.bands));
    loss_->setSeries(std::move(pictures.loss.series));
    delta_->setYScale(YScale::Symlog, symlogThreshold_);
    delta_->setSeries(std::move(pictures.delta.series));
    grad_->setBands(std::move(pictures.grad.bands));
    grad_->setSeries(std::move(pictures.grad.series));
    if (pictures.anything && !fitted_) {
        fitted_ = true;
        group_->setFollowing(pictures.live);
        group_->fit();
    } else if (group_->following()) {
        group_->fit();
    }
    updateSlider();
}

// From the first to the last recorded step; without a cursor it rests at the end.
void CurvePlots::updateSlider()
{
    const QSignalBlocker quiet(slider_);
    const auto [first, last] = loss_->dataXRange();
    const bool any = std::any_of(loss_->series().begin(), loss_->series().end(),
                                 [](const CurveSeries& s) { return s.data && !s.data->empty(); });
    const double most = std::numeric_limits<int>::max();
    slider_->setEnabled(any && last <= most); // a slider counts in int
    slider_->setRange(int(std::min(first, most)), int(std::min(last, most)));
    slider_->setPageStep(std::max(1, int((std::min(last, most) - first) / 20)));
    const std::optional<qint64> cursor = group_->cursorStep();
    slider_->setValue(cursor ? int(std::min<double>(double(*cursor), most)) : slider_->maximum());
}

void CurvePlots::setReference(const QString& name)
{
    delta_->setTitle(name.isEmpty() ? tr("loss, difference to the reference (symlog)")
                                    : tr("loss, difference to %1 (symlog)").arg(name));
}

void CurvePlots::setDivergence(qint64 x, qint64 step)
{
    std::vector<CurveMarker> named, lines;
    if (x >= 0) {
        named.push_back({x, tr("first divergent step %1").arg(step), CurveMarker::Kind::Divergence});
        lines.push_back({x, {}, CurveMarker::Kind::Divergence});
    }
    loss_->setMarkers(std::move(named));
    delta_->setMarkers(lines);
    grad_->setMarkers(lines);
    navigator_->setMarkers(std::move(lines));
}

void CurvePlots::setTolerance(const RunComparison* comparison)
{
    delta_->setBands(toleranceBands(comparison, PlotTheme::forApplication()));
}

void CurvePlots::setXAxis(XScale scale, XUnit unit)
{
    for (CurveView* view : views()) {
        view->setXScale(scale);
        view->setXUnit(unit);
    }
    grad_->setXAxisCaption(unit == XUnit::Samples ? tr("samples") : tr("step"));
}

void CurvePlots::setSmoothing(double weight)
{
    for (CurveView* view : {loss_, grad_})
        view->setSmoothing(weight);
}

void CurvePlots::nextScale()
{
    CurveView* target = loss_;
    for (CurveView* view : {delta_, grad_})
        if (view->hasFocus() || view->isAncestorOf(focusWidget()))
            target = view;
    target->setYScale(target->yScale() == YScale::Linear ? YScale::Log
                      : target->yScale() == YScale::Log  ? YScale::Symlog
                                                         : YScale::Linear,
                      target == delta_ ? symlogThreshold_ : 1e-6);
}

void CurvePlots::applyTheme()
{
    const PlotTheme theme = PlotTheme::forApplication();
    for (CurveView* view : views())
        view->setTheme(theme);
    navigator_->setTheme(theme);
}

} // namespace lockstep
