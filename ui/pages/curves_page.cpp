#include "ui/pages/curves_page.h"

#include "ui/models/format.h"
#include "ui/models/next_action.h"
#include "ui/models/project_model.h"
#include "ui/pages/evidence_panel.h"
#include "ui/pages/run_chip_bar.h"
#include "ui/plots/navigator_view.h"
#include "ui/plots/plot_group.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/causal_strip.h"

#include <QCheckBox>
#include <QDir>
#include <QEvent>
#include <QSplitter>

namespace lockstep {

namespace {

constexpr int kPanelFrom = 1100; // narrower pages start without the panel
constexpr double kSmoothing = 0.9;

} // namespace

CurvesPage::CurvesPage(const PageContext& context, QWidget* parent)
    : Page(context, tr("Curves"), parent),
      feed_(new CurveFeed({Quantity::Loss, Quantity::GradNorm}, this)),
      group_(new PlotGroup(this)),
      chips_(new RunChipBar(this)),
      strip_(new CausalStrip(this)),
      banner_(new Banner(this)),
      loss_(new CurveView(this)),
      delta_(new CurveView(this)),
      grad_(new CurveView(this)),
      navigator_(new NavigatorView(this)),
      evidence_(new EvidencePanel(this)),
      columns_(new QSplitter(Qt::Horizontal, this)),
      undoZoom_(button(tr("Undo zoom"), QStringLiteral("undo"), this)),
      export_(button(tr("Save picture"), QStringLiteral("export"), this))
{
    headStart()->addWidget(chips_);
    headActions()->addWidget(undoZoom_);
    headActions()->addWidget(export_);
    body()->addWidget(strip_);
    body()->addWidget(horizontalLine(this));
    body()->addWidget(banner_);
    columns_->addWidget(makePlots());
    columns_->addWidget(evidence_);
    columns_->setStretchFactor(0, 1);
    columns_->setStretchFactor(1, 0);
    columns_->setCollapsible(0, false);
    columns_->setSizes({10000, 348});
    body()->addWidget(columns_, 1);
    setTabOrder(strip_, loss_);

    connect(chips_, &RunChipBar::added, this, [this](const QString& id) {
        RunSelection& selection = this->context().selection;
        if (selection.runA().isEmpty())
            selection.setRuns(id, selection.runB());
        else if (selection.runB().isEmpty())
            selection.setRuns(selection.runA(), id);
        else
            selection.setExtraRuns(selection.extraRuns() << id);
    });
    connect(chips_, &RunChipBar::removed, this, [this](const QString& id) {
        RunSelection& selection = this->context().selection;
        QStringList rest = selection.chosen();
        rest.removeAll(id);
        selection.setExtraRuns(rest.mid(2));
        selection.setRuns(rest.value(0), rest.value(1));
    });
    connect(strip_, &CausalStrip::stepChosen, this, &CurvesPage::goToStep);
    connect(evidence_, &EvidencePanel::stepChosen, this, &CurvesPage::goToStep);
    connect(evidence_, &EvidencePanel::closeRequested, this, &CurvesPage::togglePanel);
    connect(undoZoom_, &QPushButton::clicked, group_, &PlotGroup::undoZoom);
    connect(export_, &QPushButton::clicked, this, &CurvesPage::saveImage);
    connect(group_, &PlotGroup::zoomHistoryChanged, this,
            [this] { undoZoom_->setEnabled(group_->canUndoZoom()); });
    connect(group_, &PlotGroup::hoverTextChanged, this, &Page::statusTextChanged);
    connect(group_, &PlotGroup::cursorStepChanged, &context.selection, &RunSelection::setStep);
    connect(group_, &PlotGroup::followingChanged, follow_, &QCheckBox::setChecked);
    connect(feed_, &CurveFeed::changed, this, &CurvesPage::draw);
    connect(feed_, &CurveFeed::problem, this, [this](const QString&, const QString& sentence) {
        banner_->showMessage(State::Failed, sentence);
    });
    connect(&context.project, &ProjectModel::changed, this, &CurvesPage::refresh);
    connect(&context.selection, &RunSelection::runsChanged, this, [this] {
        fitted_ = false;
        banner_->clear();
        refresh();
    });
    connect(&context.comparisons, &ComparisonModel::compared, this,
            [this](const RunComparisonPtr& comparison) {
                if (comparison->runA != this->context().selection.runA() ||
                    comparison->runB != this->context().selection.runB())
                    return;
                comparison_ = comparison;
                showComparison();
            });
    undoZoom_->setEnabled(false);
    refresh();
}

QWidget* CurvesPage::makeToolbar()
{
    auto* bar = new QWidget(this);
    bar->setFixedHeight(38);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(16, 4, 12, 4);
    row->setSpacing(10);
    row->addWidget(label("note", tr("ranks"), bar));
    row->addWidget(segmentedButtons(
        {tr("mean"), tr("spread"), tr("all")}, int(display_),
        [this](int choice) {
            display_ = RankDisplay(choice);
            draw();
        },
        bar));
    log_ = new QCheckBox(tr("log axis"), bar);
    log_->setToolTip(tr("Logarithmic axis for the loss (L changes the plot under focus)"));
    smoothing_ = new QCheckBox(tr("smoothing"), bar);
    smoothing_->setToolTip(tr("Exponential, weight 0.9; the raw curve stays visible, values stay exact (S)"));
    smoothing_->setShortcut(QKeySequence(Qt::Key_S));
    follow_ = new QCheckBox(tr("follow"), bar);
    follow_->setToolTip(tr("Keep the newest step in view while a run records"));
    row->addWidget(log_);
    row->addWidget(smoothing_);
    row->addWidget(follow_);
    row->addStretch(1);
    auto* hint = new ElidedLabel("hint", bar, Qt::ElideRight);
    hint->setFullText(tr("wheel zooms, drag pans, Shift+drag selects, F fits, D first divergent step"));
    hint->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    row->addWidget(hint);
    connect(log_, &QCheckBox::toggled, this,
            [this](bool on) { loss_->setYScale(on ? YScale::Log : YScale::Linear); });
    connect(smoothing_, &QCheckBox::toggled, this, [this](bool on) {
        for (CurveView* view : {loss_, grad_})
            view->setSmoothing(on ? kSmoothing : 0);
    });
    connect(follow_, &QCheckBox::clicked, this, [this](bool on) {
        group_->setFollowing(on);
        if (on)
            group_->fit();
    });
    return bar;
}

QWidget* CurvesPage::makePlots()
{
    auto* box = new QWidget(this);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 6);
    column->setSpacing(2);
    column->addWidget(makeToolbar());
    loss_->setTitle(tr("loss, mean over ranks"));
    delta_->setTitle(tr("loss, difference to the reference (symlog)"));
    grad_->setTitle(tr("gradient norm after reduction, log"));
    loss_->setEmptyText(tr("No values yet. Curves appear with the first recorded step."));
    delta_->setEmptyText(tr("Shown once two runs have a step in common."));
    grad_->setEmptyText(tr("No gradient norm is recorded."));
    loss_->setObjectName(QStringLiteral("lossPlot"));
    delta_->setObjectName(QStringLiteral("deltaPlot"));
    grad_->setObjectName(QStringLiteral("gradPlot"));
    grad_->setYScale(YScale::Log);
    const std::pair<CurveView*, int> views[] = {{loss_, 130}, {delta_, 110}, {grad_, 100}};
    const int stretch[] = {40, 32, 28};
    for (int i = 0; i < 3; ++i) {
        CurveView* view = views[i].first;
        view->setMinimumHeight(views[i].second);
        view->setMargins(64, 104);
        view->setXAxisVisible(i == 2);
        group_->add(view);
        column->addWidget(view, stretch[i]);
    }
    grad_->setXAxisCaption(tr("step"));
    navigator_->setMargins(64, 104);
    navigator_->setFixedHeight(58);
    group_->add(navigator_);
    column->addWidget(navigator_);
    return box;
}

std::vector<const RunEntry*> CurvesPage::chosenRuns() const
{
    std::vector<const RunEntry*> runs;
    if (snapshot_)
        for (const QString& id : context().selection.chosen())
            if (const RunEntry* run = snapshot_->run(id))
                runs.push_back(run);
    return runs;
}

// Nothing was chosen: the newest distributed run against its reference.
void CurvesPage::chooseDefaults()
{
    if (!snapshot_ || !context().selection.chosen().isEmpty())
        return;
    for (const RunEntry& run : snapshot_->runs) {
        const QString reference = referenceRun(*snapshot_, run);
        if (reference.isEmpty())
            continue;
        context().selection.setRuns(reference, run.id());
        return;
    }
    if (!snapshot_->runs.empty())
        context().selection.setRuns(snapshot_->runs.front().id(), {});
}

void CurvesPage::refresh()
{
    const ProjectSnapshotPtr before = snapshot_;
    snapshot_ = context().project.snapshot();
    if (!before || before->info.folder != snapshot_->info.folder)
        fitted_ = false;
    if (!isVisible())
        return; // open() catches up
    const RunSelection& selection = context().selection;
    chips_->setRuns(snapshot_, selection.chosen());
    feed_->setRuns(*snapshot_, selection.chosen());
    feed_->setReference(selection.runA(), Quantity::Loss);
    const RunEntry* a = snapshot_->run(selection.runA());
    delta_->setTitle(a ? tr("loss, difference to %1 (symlog)").arg(a->name())
                       : tr("loss, difference to the reference (symlog)"));
    if (comparison_ && (comparison_->runA != selection.runA() || comparison_->runB != selection.runB()))
        comparison_.reset();
    context().comparisons.watch(selection.runA(), selection.runB());
    showComparison();
    draw();
}

void CurvesPage::draw()
{
    if (!snapshot_)
        return;
    const PlotTheme theme = PlotTheme::forApplication();
    const std::vector<const RunEntry*> runs = chosenRuns();
    CurvePicture loss = curvesOf(runs, *feed_, Quantity::Loss, display_, theme);
    CurvePicture grad = curvesOf(runs, *feed_, Quantity::GradNorm, RankDisplay::Mean, theme);
    CurvePicture delta = deltasOf(runs, *feed_, theme);
    std::vector<CurveSeries> whole;
    for (const CurveSeries& one : loss.series)
        if (one.style != CurveStyle::Rank)
            whole.push_back(one);
    navigator_->setSeries(std::move(whole));
    loss_->setBands(std::move(loss.bands));
    loss_->setSeries(std::move(loss.series));
    delta_->setYScale(YScale::Symlog, feed_->symlogThreshold());
    delta_->setSeries(std::move(delta.series));
    grad_->setSeries(std::move(grad.series));

    std::int64_t steps = 0;
    for (const RunEntry* run : runs)
        if (const RunCurvesPtr curves = feed_->run(run->id()))
            if (const SeriesSnapshot::Ptr mean = curves->mean(Quantity::Loss); mean && !mean->empty())
                steps = std::max(steps, mean->lastStep());
    const bool anything =
        std::any_of(runs.begin(), runs.end(), [this](const RunEntry* run) { return feed_->run(run->id()); });
    const bool live =
        std::any_of(runs.begin(), runs.end(), [](const RunEntry* run) { return run->running(); });
    navigator_->setCaption(anything ? tr("whole run\n%n step(s)", nullptr, int(steps)) : QString());
    follow_->setEnabled(live);
    if (anything && !fitted_) {
        fitted_ = true;
        group_->setFollowing(live);
        group_->fit();
    } else if (group_->following()) {
        group_->fit();
    }
}

void CurvesPage::showComparison()
{
    const RunSelection& selection = context().selection;
    const RunEntry* a = snapshot_ ? snapshot_->run(selection.runA()) : nullptr;
    const RunEntry* b = snapshot_ ? snapshot_->run(selection.runB()) : nullptr;
    evidence_->setComparison(comparison_, a ? a->name() : QString(), b ? b->name() : QString());
    std::vector<CurveMarker> markers;
    std::vector<CurveMarker> lossMarkers;
    if (!a || !b) {
        strip_->setSentence(State::None, tr("Choose a reference and a second run to see where they part."));
    } else if (!comparison_) {
        strip_->setSentence(State::Running, tr("Comparing %1 with %2").arg(b->name(), a->name()));
    } else if (comparison_->verdict == State::CannotCompare) {
        strip_->setSentence(State::CannotCompare, comparison_->sentence);
    } else {
        std::vector<CausalStrip::Cell> cells;
        for (const LinkRow& link : comparison_->links)
            cells.push_back({link.state, link.title, link.detail, link.firstStep});
        strip_->setCells(std::move(cells));
        if (comparison_->firstStep >= 0) {
            markers.push_back({comparison_->firstStep, {}, CurveMarker::Kind::Divergence});
            lossMarkers.push_back({comparison_->firstStep,
                                   tr("first divergent step %1").arg(comparison_->firstStep),
                                   CurveMarker::Kind::Divergence});
        }
    }
    loss_->setMarkers(std::move(lossMarkers));
    delta_->setMarkers(markers);
    grad_->setMarkers(markers);
    navigator_->setMarkers(std::move(markers));
}

void CurvesPage::goToStep(qint64 step)
{
    const auto [lower, upper] = group_->xRange();
    if (double(step) < lower || double(step) > upper) {
        const double half = (upper - lower) / 2;
        group_->setXRange(double(step) - half, double(step) + half);
    }
    group_->setFollowing(false);
    group_->setCursorStep(step);
    Q_EMIT statusTextChanged(loss_->readoutText(step));
}

void CurvesPage::jumpToDivergence()
{
    if (comparison_ && comparison_->firstStep >= 0) {
        // Close enough to see single steps.
        const double step = double(comparison_->firstStep);
        const auto [lower, upper] = group_->xRange();
        if (upper - lower > 400)
            group_->setXRange(step - 60, step + 140);
        goToStep(comparison_->firstStep);
        loss_->setFocus();
    } else {
        Q_EMIT statusTextChanged(comparison_ ? comparison_->headline : tr("Nothing is compared yet"));
    }
}

void CurvesPage::nextScale()
{
    CurveView* target = loss_;
    for (CurveView* view : {delta_, grad_})
        if (view->hasFocus() || view->isAncestorOf(focusWidget()))
            target = view;
    const YScale next = target->yScale() == YScale::Linear ? YScale::Log
                        : target->yScale() == YScale::Log  ? YScale::Symlog
                                                           : YScale::Linear;
    target->setYScale(next, target == delta_ ? feed_->symlogThreshold() : 1e-6);
    if (target == loss_) {
        const QSignalBlocker blocked(log_);
        log_->setChecked(next == YScale::Log);
    }
}

void CurvesPage::saveImage()
{
    const QString path = QDir(context().project.folder()).filePath(QStringLiteral("curves.png"));
    const bool saved = columns_->grab().save(path);
    const QString home = QDir::home().filePath(QStringLiteral("curves.png"));
    if (saved || columns_->grab().save(home))
        Q_EMIT statusTextChanged(tr("Saved %1").arg(formatFolder(saved ? path : home)));
    else
        banner_->showMessage(
            State::Failed,
            tr("The picture could not be written. Neither the project nor the home folder can be written."));
}

void CurvesPage::open(const QString& argument)
{
    snapshot_ = context().project.snapshot();
    if (argument.startsWith(QLatin1String("run:"))) {
        const QString id = argument.mid(4);
        if (const RunEntry* run = snapshot_->run(id)) {
            const QString reference = referenceRun(*snapshot_, *run);
            context().selection.setExtraRuns({});
            if (reference.isEmpty())
                context().selection.setRuns(id, {});
            else
                context().selection.setRuns(reference, id);
        }
    } else if (argument.startsWith(QLatin1String("step:"))) {
        refresh();
        goToStep(argument.mid(5).toLongLong());
        return;
    }
    chooseDefaults();
    refresh();
    if (const std::optional<qint64> step = context().selection.step(); step && !group_->cursorStep())
        group_->setCursorStep(step); // from the session
    setFocus();
}

bool CurvesPage::escape()
{
    if (banner_->isVisible()) {
        banner_->clear();
        return true;
    }
    if (group_->cursorStep()) {
        group_->setCursorStep(std::nullopt);
        return true;
    }
    return false;
}

void CurvesPage::togglePanel()
{
    panelByUser_ = true;
    evidence_->setVisible(!evidence_->isVisible());
}

bool CurvesPage::busy() const
{
    return feed_->busy() || context().comparisons.busy();
}

QJsonObject CurvesPage::saveState() const
{
    const auto [lower, upper] = group_->xRange();
    QJsonObject state{{QStringLiteral("ranks"), int(display_)}, {QStringLiteral("log"), log_->isChecked()}};
    if (group_->canUndoZoom() && !group_->following())
        state.insert(QStringLiteral("x"),
                     QJsonObject{{QStringLiteral("from"), lower}, {QStringLiteral("to"), upper}});
    if (panelByUser_)
        state.insert(QStringLiteral("panel"), evidence_->isVisibleTo(this));
    return state;
}

void CurvesPage::restoreState(const QJsonObject& state)
{
    log_->setChecked(state.value(QStringLiteral("log")).toBool());
    const QJsonObject x = state.value(QStringLiteral("x")).toObject();
    const double from = x.value(QStringLiteral("from")).toDouble();
    const double to = x.value(QStringLiteral("to")).toDouble();
    if (to > from) {
        fitted_ = true;
        group_->setXRange(from, to);
    }
    if (state.contains(QStringLiteral("panel"))) {
        panelByUser_ = true;
        evidence_->setVisible(state.value(QStringLiteral("panel")).toBool());
    }
}

void CurvesPage::changeEvent(QEvent* event)
{
    Page::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        const PlotTheme theme = PlotTheme::forApplication();
        for (CurveView* view : {loss_, delta_, grad_})
            view->setTheme(theme);
        navigator_->setTheme(theme);
        draw();
    }
}

void CurvesPage::resizeEvent(QResizeEvent* event)
{
    Page::resizeEvent(event);
    if (!panelByUser_)
        evidence_->setVisible(width() >= kPanelFrom);
}

} // namespace lockstep
