#include "ui/pages/curves_page.h"

#include "ui/models/format.h"
#include "ui/models/next_action.h"
#include "ui/models/project_model.h"
#include "ui/models/third_run.h"
#include "ui/pages/causal_chain.h"
#include "ui/pages/curve_plots.h"
#include "ui/pages/curve_toolbar.h"
#include "ui/pages/evidence_panel.h"
#include "ui/pages/run_chip_bar.h"
#include "ui/plots/plot_export.h"
#include "ui/plots/plot_group.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/causal_strip.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>

#include <algorithm>

namespace lockstep {

namespace {

constexpr double kSmoothing = 0.9;

} // namespace

CurvesPage::CurvesPage(const PageContext& context, QWidget* parent)
    : PlotPage(context, tr("Curves"), parent),
      feed_(new CurveFeed({Quantity::Loss, Quantity::GradNorm}, this)),
      chips_(new RunChipBar(this)),
      strip_(new CausalStrip(this)),
      toolbar_(new CurveToolbar(this)),
      plots_(new CurvePlots(this)),
      group_(plots_->group()),
      evidence_(new EvidencePanel(this)),
      undoZoom_(button(tr("Undo zoom"), QStringLiteral("undo"), this)),
      export_(button(tr("Export"), QStringLiteral("export"), this))
{
    makeExportMenu();
    headStart()->addWidget(chips_);
    headActions()->addWidget(undoZoom_);
    headActions()->addWidget(export_);
    body()->addWidget(strip_);
    body()->addWidget(horizontalLine(this));
    auto* left = new QWidget(this);
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(toolbar_);
    column->addWidget(plots_, 1);
    setContent(left, evidence_);
    setTabOrder(strip_, toolbar_);
    connectAll();
    undoZoom_->setEnabled(false);
    refresh();
}

void CurvesPage::connectAll()
{
    connect(chips_, &RunChipBar::added, this, [this](const QString& id) {
        RunSelection& selection = context().selection;
        if (selection.runA().isEmpty())
            selection.setRuns(id, selection.runB());
        else if (selection.runB().isEmpty())
            selection.setRuns(selection.runA(), id);
        else
            selection.setExtraRuns(selection.extraRuns() << id);
    });
    connect(chips_, &RunChipBar::removed, this, [this](const QString& id) {
        RunSelection& selection = context().selection;
        QStringList rest = selection.chosen();
        rest.removeAll(id);
        selection.setExtraRuns(rest.mid(2));
        selection.setRuns(rest.value(0), rest.value(1));
    });
    connect(strip_, &CausalStrip::stepChosen, this, &CurvesPage::goToStep);
    connect(evidence_, &EvidencePanel::stepChosen, this, &CurvesPage::goToStep);
    connect(evidence_, &EvidencePanel::closeRequested, this, &CurvesPage::togglePanel);
    connect(toolbar_, &CurveToolbar::ranksChanged, this, &CurvesPage::draw);
    connect(toolbar_, &CurveToolbar::xAxisChanged, this, &CurvesPage::changeXAxis);
    connect(toolbar_, &CurveToolbar::logarithmicChanged, this,
            [this](bool on) { plots_->loss()->setYScale(on ? YScale::Log : YScale::Linear); });
    connect(toolbar_, &CurveToolbar::smoothingChanged, this,
            [this](bool on) { plots_->setSmoothing(on ? kSmoothing : 0); });
    connect(toolbar_, &CurveToolbar::followRequested, this, [this](bool on) {
        group_->setFollowing(on);
        if (on)
            group_->fit();
    });
    connect(undoZoom_, &QPushButton::clicked, group_, &PlotGroup::undoZoom);
    connect(group_, &PlotGroup::zoomHistoryChanged, this,
            [this] { undoZoom_->setEnabled(group_->canUndoZoom()); });
    connect(group_, &PlotGroup::hoverTextChanged, this, &Page::statusTextChanged);
    connect(group_, &PlotGroup::cursorStepChanged, this, [this](std::optional<qint64> x) {
        RunSelection& selection = context().selection;
        selection.setStep(x ? std::optional(feed_->stepOfX(selection.runA(), *x)) : std::nullopt);
    });
    connect(group_, &PlotGroup::followingChanged, this, &CurvesPage::draw);
    connect(feed_, &CurveFeed::changed, this, &CurvesPage::draw);
    connect(feed_, &CurveFeed::problem, this, [this](const QString&, const QString& sentence) {
        banner()->showMessage(State::Failed, sentence);
    });
    connect(&context().project, &ProjectModel::changed, this, &CurvesPage::refresh);
    connect(&context().selection, &RunSelection::runsChanged, this, [this] {
        plots_->fitAgain();
        banner()->clear();
        refresh();
    });
    connect(&context().comparisons, &ComparisonModel::compared, this,
            [this](const RunComparisonPtr& comparison) {
                const RunSelection& selection = context().selection;
                if (comparison->runA != selection.runA() || comparison->runB != selection.runB())
                    return;
                comparison_ = comparison;
                showComparison();
            });
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

// With the third line that belongs to them: single process, twin and ranks are seen together.
void CurvesPage::choosePair(const QString& reference, const QString& run)
{
    const QString third = thirdRun(*snapshot_, reference, run);
    context().selection.setExtraRuns(third.isEmpty() ? QStringList() : QStringList(third));
    context().selection.setRuns(reference, run);
}

// Nothing was chosen: the newest distributed run against its reference.
void CurvesPage::chooseDefaults()
{
    if (!snapshot_ || !context().selection.chosen().isEmpty())
        return;
    for (const RunEntry& run : snapshot_->runs) {
        const QString reference = run.auxiliary() ? QString() : referenceRun(*snapshot_, run);
        if (reference.isEmpty())
            continue;
        choosePair(reference, run.id());
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
        plots_->fitAgain();
    if (!isVisible())
        return; // open() catches up
    const RunSelection& selection = context().selection;
    chips_->setRuns(snapshot_, selection.chosen());
    feed_->setRuns(*snapshot_, selection.chosen());
    feed_->setReference(selection.runA(), Quantity::Loss);
    const RunEntry* a = snapshot_->run(selection.runA());
    plots_->setReference(a ? a->name() : QString());
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
    CurvePlots::Pictures pictures;
    pictures.loss = curvesOf(runs, *feed_, Quantity::Loss, toolbar_->ranks(), theme);
    pictures.grad = curvesOf(runs, *feed_, Quantity::GradNorm, RankDisplay::Mean, theme);
    pictures.delta = deltasOf(runs, *feed_, theme);
    pictures.symlogThreshold = feed_->symlogThreshold();
    std::int64_t last = 0;
    for (const RunEntry* run : runs) {
        pictures.live = pictures.live || run->running();
        const RunCurvesPtr curves = feed_->run(run->id());
        pictures.anything = pictures.anything || curves;
        const SeriesSnapshot::Ptr mean = curves ? curves->mean(Quantity::Loss) : nullptr;
        if (mean && !mean->empty())
            last = std::max(last, mean->lastStep());
    }
    const bool live = pictures.live;
    const QString caption = feed_->xUnit() == XUnit::Samples
                                ? tr("whole run\n%n sample(s)", nullptr, int(last))
                                : tr("whole run\n%n step(s)", nullptr, int(last));
    const QString whole = pictures.anything ? caption : QString();
    plots_->showPictures(std::move(pictures), whole);
    toolbar_->showFollowing(group_->following(), live);
    showMarks();
}

void CurvesPage::showComparison()
{
    const RunSelection& selection = context().selection;
    const RunEntry* a = snapshot_ ? snapshot_->run(selection.runA()) : nullptr;
    const RunEntry* b = snapshot_ ? snapshot_->run(selection.runB()) : nullptr;
    evidence_->setComparison(comparison_, a ? a->name() : QString(), b ? b->name() : QString());
    if (!a || !b)
        strip_->setSentence(State::None, tr("Choose a reference and a second run to see where they part."));
    else
        showChain(*strip_, comparison_, a->name(), b->name());
    showMarks();
}

// Where the runs part and what would be tolerated, over the x axis that is shown.
void CurvesPage::showMarks()
{
    const RunSelection& selection = context().selection;
    const bool known =
        comparison_ && comparison_->runA == selection.runA() && comparison_->runB == selection.runB();
    const qint64 step = known ? comparison_->firstStep : -1;
    plots_->setDivergence(step >= 0 ? feed_->xOfStep(selection.runA(), step) : -1, step);
    // The envelope was measured over steps.
    plots_->setTolerance(known && feed_->xUnit() == XUnit::Step ? comparison_.get() : nullptr);
}

void CurvesPage::changeXAxis()
{
    plots_->setXAxis(toolbar_->xScale(), toolbar_->xUnit());
    if (toolbar_->xUnit() == feed_->xUnit())
        return;
    group_->setCursorStep(std::nullopt);
    feed_->setXUnit(toolbar_->xUnit());
    plots_->fitAgain();
    refresh();
}

void CurvesPage::goToStep(qint64 step)
{
    const qint64 x = feed_->xOfStep(context().selection.runA(), step);
    const auto [lower, upper] = group_->xRange();
    if (double(x) < lower || double(x) > upper) {
        const double half = (upper - lower) / 2;
        group_->setXRange(double(x) - half, double(x) + half);
    }
    group_->setFollowing(false);
    group_->setCursorStep(x);
    Q_EMIT statusTextChanged(plots_->loss()->readoutText(x));
}

void CurvesPage::jumpToDivergence()
{
    if (!comparison_ || comparison_->firstStep < 0) {
        Q_EMIT statusTextChanged(comparison_ ? comparison_->headline : tr("Nothing is compared yet"));
        return;
    }
    // Close enough to see single steps.
    const QString& run = context().selection.runA();
    const qint64 step = comparison_->firstStep;
    const double from = double(feed_->xOfStep(run, step - 60)), to = double(feed_->xOfStep(run, step + 140));
    const auto [lower, upper] = group_->xRange();
    if (upper - lower > 2 * (to - from) && from < to)
        group_->setXRange(from, to);
    goToStep(step);
    plots_->loss()->setFocus();
}

void CurvesPage::nextScale()
{
    plots_->nextScale();
    const QSignalBlocker quiet(toolbar_);
    toolbar_->setLogarithmic(plots_->loss()->yScale() == YScale::Log);
}

void CurvesPage::makeExportMenu()
{
    export_->setObjectName(QStringLiteral("exportCurves"));
    auto* menu = new QMenu(export_);
    menu->addAction(tr("Values as CSV"), this, [this] { exportAs(FileKind::Csv); });
    menu->addAction(tr("Picture as SVG"), this, [this] { exportAs(FileKind::Svg); });
    menu->addAction(tr("Picture as PNG"), this, [this] { exportAs(FileKind::Png); });
    export_->setMenu(menu);
}

void CurvesPage::exportAs(FileKind kind)
{
    const char* const suffix = kind == FileKind::Csv ? "csv" : kind == FileKind::Svg ? "svg" : "png";
    const QString wanted =
        QDir(context().project.folder()).filePath(QStringLiteral("curves.") + QLatin1String(suffix));
    const QString path = QFileDialog::getSaveFileName(this, tr("Export the curves"), wanted,
                                                      QStringLiteral("*.") + QLatin1String(suffix));
    if (path.isEmpty())
        return;
    const auto finish = [this, path](const QString& error) {
        if (error.isEmpty())
            Q_EMIT statusTextChanged(tr("Saved %1").arg(formatFolder(path)));
        else
            banner()->showMessage(State::Failed, tr("%1 was not written").arg(QFileInfo(path).fileName()),
                                  tr("%1. Choose another folder.").arg(error));
    };
    if (kind == FileKind::Svg) {
        finish(savePlotsSvg(plots_->views(), path));
    } else if (kind == FileKind::Png) {
        finish(savePlotsPng(plots_->views(), path));
    } else {
        std::vector<CsvColumn> columns;
        for (const CurveView* view : plots_->views())
            for (const CurveSeries& series : view->series())
                columns.push_back({view->title() + QStringLiteral(": ") + series.label, series.data});
        exports_.startNext([columns, path](const JobToken&) { return saveCurvesCsv(columns, path); }, finish);
    }
}

void CurvesPage::open(const QString& argument)
{
    snapshot_ = context().project.snapshot();
    if (argument.startsWith(QLatin1String("run:"))) {
        const QString id = argument.mid(4);
        if (const RunEntry* run = snapshot_->run(id)) {
            const QString reference = referenceRun(*snapshot_, *run);
            if (reference.isEmpty())
                choosePair(id, {});
            else
                choosePair(reference, id);
        }
    } else if (argument.startsWith(QLatin1String("step:"))) {
        refresh();
        goToStep(argument.mid(5).toLongLong());
        return;
    }
    chooseDefaults();
    refresh();
    if (const std::optional<qint64> step = context().selection.step(); step && !group_->cursorStep())
        group_->setCursorStep(feed_->xOfStep(context().selection.runA(), *step)); // from the session
    setFocus();
}

bool CurvesPage::escape()
{
    if (PlotPage::escape())
        return true;
    if (!group_->cursorStep())
        return false;
    group_->setCursorStep(std::nullopt);
    return true;
}

bool CurvesPage::busy() const
{
    return feed_->busy() || context().comparisons.busy() || exports_.busy();
}

QJsonObject CurvesPage::saveState() const
{
    QJsonObject state = PlotPage::saveState();
    state.insert(QStringLiteral("ranks"), int(toolbar_->ranks()));
    state.insert(QStringLiteral("log"), toolbar_->logarithmic());
    state.insert(QStringLiteral("axis"), toolbar_->xChoice());
    const auto [lower, upper] = group_->xRange();
    if (group_->canUndoZoom() && !group_->following())
        state.insert(QStringLiteral("x"),
                     QJsonObject{{QStringLiteral("from"), lower}, {QStringLiteral("to"), upper}});
    return state;
}

void CurvesPage::restoreState(const QJsonObject& state)
{
    PlotPage::restoreState(state);
    toolbar_->setLogarithmic(state.value(QStringLiteral("log")).toBool());
    toolbar_->setXChoice(state.value(QStringLiteral("axis")).toInt());
    const QJsonObject x = state.value(QStringLiteral("x")).toObject();
    const double from = x.value(QStringLiteral("from")).toDouble();
    const double to = x.value(QStringLiteral("to")).toDouble();
    if (to > from) {
        plots_->keepRange();
        group_->setXRange(from, to);
    }
}

void CurvesPage::themeChanged()
{
    plots_->applyTheme();
    draw();
}

} // namespace lockstep
