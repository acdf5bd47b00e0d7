#include "ui/pages/pair_plots.h"

#include "ui/pages/curve_looks.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QVBoxLayout>

namespace lockstep {

namespace {

constexpr int kLeft = 56; // numbers of the y axis

} // namespace

PairPlots::PairPlots(QWidget* parent)
    : Pane(QString(), parent),
      feed_(new CurveFeed({Quantity::Loss}, this)),
      loss_(new CurveView(this)),
      delta_(new CurveView(this)),
      live_(new Chip(this))
{
    auto* link = linkButton(tr("Open in Curves"), this);
    head()->insertWidget(1, live_);
    head()->addWidget(link);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(12, 8, 12, 8);
    row->setSpacing(12);
    for (CurveView* view : {loss_, delta_}) {
        view->setInteractive(false);
        view->setMinimumHeight(120);
        view->setXAxisVisible(true);
        row->addWidget(view, 1);
    }
    loss_->setTitle(tr("loss, mean over ranks"));
    loss_->setEmptyText(tr("waiting for the first step"));
    delta_->setTitle(tr("loss, difference to the baseline (symlog)"));
    delta_->setEmptyText(tr("needs steps of both runs"));
    body()->addLayout(row, 1);
    connect(link, &QPushButton::clicked, this, &PairPlots::openCurves);
    connect(feed_, &CurveFeed::changed, this, &PairPlots::draw);
}

void PairPlots::setRuns(const ProjectSnapshotPtr& snapshot, const QString& runA, const QString& runB)
{
    snapshot_ = snapshot;
    if (runA != runA_ || runB != runB_)
        comparison_.reset();
    runA_ = runA;
    runB_ = runB;
    const RunEntry* a = snapshot->run(runA);
    const RunEntry* b = snapshot->run(runB);
    setTitle(a && b ? tr("%1 against %2").arg(b->name(), a->name())
             : a    ? a->name()
             : b    ? b->name()
                    : QString());
    const bool running = (a && a->running()) || (b && b->running());
    live_->setState(running ? State::Running : State::None, running ? tr("live") : QString());
    feed_->setRuns(*snapshot, {runA, runB});
    feed_->setReference(runA, Quantity::Loss);
    draw();
}

void PairPlots::setComparison(const RunComparisonPtr& comparison)
{
    if (comparison == comparison_)
        return;
    comparison_ = comparison;
    std::vector<CurveMarker> markers;
    if (comparison && comparison->firstStep >= 0)
        markers.push_back({comparison->firstStep, {}, CurveMarker::Kind::Divergence});
    loss_->setMarkers(markers);
    delta_->setMarkers(std::move(markers));
    draw();
}

void PairPlots::draw()
{
    if (!snapshot_)
        return;
    const PlotTheme theme = PlotTheme::forApplication();
    std::vector<const RunEntry*> runs;
    for (const QString& id : {runA_, runB_})
        if (const RunEntry* run = snapshot_->run(id))
            runs.push_back(run);
    CurvePicture curves = curvesOf(runs, *feed_, Quantity::Loss, RankDisplay::Spread, theme);
    CurvePicture deltas = deltasOf(runs, *feed_, theme);
    const int right = endLabelMargin({&curves, &deltas});
    for (CurveView* view : {loss_, delta_})
        view->setMargins(kLeft, right);
    loss_->setBands(std::move(curves.bands));
    loss_->setSeries(std::move(curves.series));
    delta_->setYScale(YScale::Symlog, feed_->symlogThreshold());
    delta_->setSeries(std::move(deltas.series));
    delta_->setBands(toleranceBands(comparison_.get(), theme));
    loss_->fit();
    const auto [lower, upper] = loss_->dataXRange();
    delta_->setXRange(lower, upper);
}

void PairPlots::changeEvent(QEvent* event)
{
    Pane::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        loss_->setTheme(PlotTheme::forApplication());
        delta_->setTheme(PlotTheme::forApplication());
        draw();
    }
}

} // namespace lockstep
