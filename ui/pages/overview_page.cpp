#include "ui/pages/overview_page.h"

#include "core/config/imported_series.h"
#include "ui/models/comparison_model.h"
#include "ui/models/format.h"
#include "ui/models/gates_model.h"
#include "ui/models/project_model.h"
#include "ui/models/run_config_diff_model.h"
#include "ui/models/run_repeat.h"
#include "ui/models/runs_filter_model.h"
#include "ui/models/runs_model.h"
#include "ui/pages/live_ranks_pane.h"
#include "ui/pages/next_action_box.h"
#include "ui/pages/overview_notes.h"
#include "ui/pages/pair_plots.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/data_table.h"

#include <QGridLayout>
#include <QScrollArea>

#include <algorithm>

namespace lockstep {

namespace {

constexpr int kLastRuns = 8;
constexpr int kChangesShown = 7;
constexpr int kValueWidth = 96;

void clearLayout(QLayout* layout)
{
    while (QLayoutItem* item = layout->takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

} // namespace

OverviewPage::OverviewPage(const PageContext& context, QWidget* parent)
    : Page(context, tr("Overview"), parent),
      lastRuns_(new RunsFilterModel(this)),
      diff_(new RunConfigDiffModel(this)),
      banner_(new Banner(this)),
      next_(new NextActionBox(this)),
      changes_(new Pane(tr("What changes between the runs"), this)),
      runsPane_(new Pane(tr("Last runs"), this)),
      changesEmpty_(wrappedLabel("secondary", {}, this)),
      gates_(new DataTable(this)),
      runs_(new DataTable(this)),
      plots_(new PairPlots(this)),
      ranks_(new LiveRanksPane(this))
{
    auto* newRun = button(tr("New run"), QStringLiteral("plus"), this);
    newRun->setToolTip(tr("New run (F5)"));
    script_ = button(tr("Use my script"), QStringLiteral("play"), this);
    script_->setObjectName(QStringLiteral("useScript"));
    script_->setToolTip(tr("Run your own Python script, first in one process, then with several ranks"));
    headActions()->addWidget(script_);
    headActions()->addWidget(newRun);
    connect(script_, &QPushButton::clicked, this,
            [this] { Q_EMIT openRequested(QStringLiteral("runs"), QStringLiteral("script")); });

    gates_->setModel(&context.gates);
    gates_->setColumnPlan(GatesModel::Deciding, {GatesModel::Finished, GatesModel::Limit});
    gates_->setFixedRows(6);
    gates_->setAccessibleName(tr("Gates"));
    auto* gatesPane = new Pane(tr("Gates"), this);
    gatesPane->addWidget(gates_);
    gatesPane->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);

    lastRuns_->setSourceModel(&context.runs);
    lastRuns_->setLimit(kLastRuns);
    runs_->setModel(lastRuns_);
    runs_->setFixedRows(kLastRuns);
    runs_->setAccessibleName(tr("Last runs"));
    runs_->setHiddenColumns({RunsModel::Mark, RunsModel::Backend, RunsModel::Config});
    runs_->setColumnPlan(RunsModel::Against, {RunsModel::Time, RunsModel::Started, RunsModel::Steps,
                                              RunsModel::World, RunsModel::LastLoss});
    allRuns_ = linkButton({}, this);
    runsPane_->head()->addWidget(allRuns_);
    runsPane_->addWidget(runs_);
    runsPane_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);

    changeRows_ = new QWidget(changes_);
    auto* changeGrid = new QGridLayout(changeRows_);
    changeGrid->setContentsMargins(12, 4, 12, 4);
    changeGrid->setHorizontalSpacing(12);
    changeGrid->setVerticalSpacing(0);
    changeGrid->setColumnStretch(0, 1);
    allChanges_ = linkButton({}, changes_);
    changesEmpty_->setContentsMargins(12, 10, 12, 10);
    changesPair_ = wrappedLabel("note", {}, changes_);
    changesPair_->setContentsMargins(12, 8, 12, 0);
    changes_->addWidget(changesPair_);
    changes_->addWidget(changeRows_);
    changes_->addWidget(changesEmpty_);
    auto* foot = new QHBoxLayout;
    foot->setContentsMargins(8, 0, 8, 4);
    foot->addWidget(allChanges_);
    foot->addStretch(1);
    changes_->body()->addLayout(foot);
    changes_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);

    auto* body = new QWidget(this);
    body->setObjectName(QStringLiteral("scrollBody"));
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(20, 16, 16, 16);
    column->setSpacing(14);
    column->addWidget(banner_);
    column->addWidget(next_);
    column->addWidget(ranks_);
    auto* middle = new QHBoxLayout;
    middle->setSpacing(14);
    auto* left = new QVBoxLayout;
    left->setSpacing(14);
    left->addWidget(gatesPane);
    left->addWidget(runsPane_);
    left->addStretch(1);
    auto* right = new QVBoxLayout;
    right->setSpacing(14);
    right->addWidget(changes_);
    parts_ = new Pane(tr("Where they part"), this);
    auto* partsColumn = new QVBoxLayout;
    partsColumn->setContentsMargins(12, 10, 12, 12);
    partsColumn->setSpacing(6);
    partsChip_ = new Chip(parts_);
    partsHeadline_ = wrappedLabel("paneTitle", {}, parts_);
    partsSentence_ = wrappedLabel("note", {}, parts_);
    partsColumn->addWidget(partsChip_);
    partsColumn->addWidget(partsHeadline_);
    partsColumn->addWidget(partsSentence_);
    parts_->body()->addLayout(partsColumn);
    right->addWidget(parts_);
    notes_ = new OverviewNotes(this);
    connect(notes_, &OverviewNotes::openRequested, this,
            [this](const QString& page) { Q_EMIT openRequested(page, {}); });
    right->addWidget(notes_);
    right->addStretch(1);
    auto* rightBox = new QWidget(body);
    rightBox->setFixedWidth(332);
    right->setContentsMargins(0, 0, 0, 0);
    rightBox->setLayout(right);
    middle->addLayout(left, 1);
    middle->addWidget(rightBox);
    column->addLayout(middle);
    column->addWidget(plots_, 1);
    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(body);
    this->body()->addWidget(scroll, 1);

    connect(newRun, &QPushButton::clicked, this,
            [this] { Q_EMIT openRequested(QStringLiteral("runs"), QStringLiteral("new")); });
    connect(next_, &NextActionBox::chosen, this, &OverviewPage::follow);
    connect(next_, &NextActionBox::cancelRequested, &context.commands, &RunCommands::cancelPending);
    connect(allRuns_, &QPushButton::clicked, this,
            [this] { Q_EMIT openRequested(QStringLiteral("runs"), {}); });
    connect(allChanges_, &QPushButton::clicked, this, [this] {
        this->context().selection.setRuns(pairA_, pairB_);
        Q_EMIT openRequested(QStringLiteral("runs"), {});
    });
    connect(plots_, &PairPlots::openCurves, this, [this] {
        this->context().selection.setRuns(pairA_, pairB_);
        Q_EMIT openRequested(QStringLiteral("curves"), {});
    });
    connect(runs_, &DataTable::activatedId, this, [this](const QString& id) {
        Q_EMIT openRequested(QStringLiteral("curves"), QStringLiteral("run:") + id);
    });
    connect(gates_, &DataTable::activatedId, this,
            [this](const QString& id) { Q_EMIT openRequested(id, {}); });
    connect(&context.project, &ProjectModel::changed, this, &OverviewPage::refresh);
    connect(&context.comparisons, &ComparisonModel::verdictsChanged, this, &OverviewPage::refresh);
    connect(&context.project, &ProjectModel::problem, this, [this](const QString& sentence) {
        if (sentence.isEmpty())
            banner_->clear();
        else
            banner_->showMessage(State::Failed, sentence);
    });
    connect(&context.commands, &RunCommands::pendingChanged, this,
            [this](int pending) { next_->setPending(pending > 0); });
    connect(&context.commands, &RunCommands::failed, this,
            [this](const QString& command, const QString& sentence) {
                if (command == QLatin1String("run") || command == QLatin1String("probe") ||
                    command == QLatin1String("stop"))
                    banner_->showMessage(State::Failed, sentence);
            });
    connect(&context.commands, &RunCommands::runStarted, banner_, &Banner::clear);
    refresh();
}

bool OverviewPage::busy() const
{
    return plots_->busy() || ranks_->busy();
}

void OverviewPage::open(const QString&)
{
    setFocus();
    refresh();
}

void OverviewPage::refresh()
{
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    if (!context().project.isOpen())
        return;
    next_->setAction(nextAction(*snapshot, context().comparisons.verdicts()));
    script_->setVisible(!snapshot->runs.empty()); // in an empty project the box above offers it
    // While something trains, its ranks; afterwards the page is about where the runs part.
    const auto running = std::find_if(snapshot->runs.begin(), snapshot->runs.end(),
                                      [](const RunEntry& run) { return run.running(); });
    ranks_->setRun(running == snapshot->runs.end() ? nullptr : &*running);
    const auto own = std::count_if(snapshot->runs.begin(), snapshot->runs.end(),
                                   [](const RunEntry& run) { return !run.auxiliary(); });
    allRuns_->setText(tr("%n run(s)", nullptr, int(own)));
    runsPane_->setVisible(own > 0);

    // The newest run that has something to be compared with.
    pairA_.clear();
    pairB_.clear();
    for (const RunEntry& run : snapshot->runs) {
        if (run.config.mode == "single" || run.info.lastStep < 0 || run.auxiliary())
            continue;
        pairB_ = run.id();
        pairA_ = referenceRun(*snapshot, run);
        break;
    }
    if (pairB_.isEmpty() && own > 0)
        pairA_ = std::find_if(snapshot->runs.begin(), snapshot->runs.end(), [](const RunEntry& run) {
                     return !run.auxiliary();
                 })->id();
    plots_->setVisible(!snapshot->runs.empty());
    plots_->setRuns(snapshot, pairA_, pairB_);
    updateChanges();
    updateParts();
    notes_->setSnapshot(*snapshot);

    // Logs of other tools are beside what is trained here.
    int ranks = 1;
    const RunEntry* newest = nullptr;
    for (const RunEntry& run : snapshot->runs) {
        if (run.config.mode == kImportedMode)
            continue;
        ranks = std::max(ranks, run.config.world);
        newest = newest ? newest : &run;
    }
    const QString workload = qs(newest                            ? newest->config.workload
                                : snapshot->info.workload.empty() ? "toy-mlp"
                                                                  : snapshot->info.workload);
    setSubtitle(snapshot->readOnly ? tr("%1, read-only: nothing can be started here").arg(workload)
                : ranks > 1        ? tr("%1 from 1 process to %2 ranks").arg(workload).arg(ranks)
                                   : workload);
}

void OverviewPage::updateChanges()
{
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    const RunEntry* a = snapshot->run(pairA_);
    const RunEntry* b = snapshot->run(pairB_);
    const bool both = a && b && a->configReadable && b->configReadable;
    changesEmpty_->setText(tr("Shown once there is a single-process run and a distributed one."));
    changesEmpty_->setVisible(!both);
    changeRows_->setVisible(both);
    allChanges_->setVisible(both);
    changesPair_->setVisible(both);
    if (both)
        changesPair_->setText(tr("from %1 to %2").arg(a->name(), b->name()));
    diff_->setRuns(both ? std::optional(a->config) : std::nullopt,
                   both ? std::optional(b->config) : std::nullopt, a ? a->name() : QString(),
                   b ? b->name() : QString());
    auto* grid = static_cast<QGridLayout*>(changeRows_->layout());
    clearLayout(grid);
    if (!both)
        return;
    int row = 0;
    for (int group = 0; group < diff_->rowCount() && row < kChangesShown; ++group) {
        const QModelIndex parent = diff_->index(group, 0);
        for (int i = 0; i < diff_->rowCount(parent) && row < kChangesShown; ++i) {
            const auto cell = [&](int column) { return diff_->index(i, column, parent).data().toString(); };
            const bool maths = diff_->index(i, 0, parent).data(TintRole).toBool();
            const auto place = [&](const char* role, int column, int at) {
                auto* one = new ElidedLabel(role, changeRows_);
                one->setFullText(cell(column));
                one->setAlignment((at > 0 ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
                one->setFixedHeight(24);
                if (at > 0) // a long value leaves the key its place
                    one->setMaximumWidth(kValueWidth);
                grid->addWidget(one, row, at);
            };
            const char* const role = maths ? "error" : "body";
            place(role, RunConfigDiffModel::Key, 0);
            place("secondary", RunConfigDiffModel::ValueA, 1);
            place(role, RunConfigDiffModel::ValueB, 2);
            ++row;
        }
    }
    allChanges_->setText(tr("%1 of %2 keys differ").arg(diff_->differing()).arg(diff_->keys()));
}

void OverviewPage::updateParts()
{
    context().comparisons.want(pairA_, pairB_);
    const RunComparisonPtr comparison = context().comparisons.result(pairA_, pairB_);
    parts_->setVisible(comparison != nullptr);
    if (!comparison)
        return;
    partsChip_->setState(comparison->verdict, comparison->verdict == State::Diverged
                                                  ? tr("diverged at step %1").arg(comparison->firstStep)
                                              : comparison->verdict == State::Holds
                                                  ? tr("no difference found")
                                              : comparison->byDesign ? tr("differs by design")
                                                                     : tr("cannot compare"));
    partsHeadline_->setText(comparison->headline);
    partsSentence_->setText(comparison->sentence);
}

void OverviewPage::follow(const NextAction::Button& button)
{
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    const RunEntry* run = snapshot->run(button.target);
    using Command = NextAction::Command;
    switch (button.command) {
    case Command::None:
        return;
    case Command::NewRun:
        Q_EMIT openRequested(QStringLiteral("runs"), QStringLiteral("new:") + button.mode);
        return;
    case Command::StartPair:
        for (const char* mode : {"single", "ddp"})
            context().commands.startRun(starterConfig(snapshot->info.workload, mode));
        return;
    case Command::StartRun: {
        RunConfig config =
            run ? run->config : starterConfig(snapshot->info.workload, button.mode.toStdString());
        const int world = std::max({config.world, config.alignWorld, 2});
        config.name.clear();
        config.faults.clear();
        config.mode = button.mode.toStdString();
        config.world = config.mode == "single" ? 1 : world;
        config.alignWorld = config.mode == "single" ? world : 1;
        context().commands.startRun(config);
        return;
    }
    case Command::StopRun:
        context().commands.stopRun(button.target);
        return;
    case Command::UseScript:
        Q_EMIT openRequested(QStringLiteral("runs"), QStringLiteral("script"));
        return;
    case Command::Rerun:
        if (run)
            repeatRun(context().commands, *run);
        return;
    case Command::OpenCurves:
        Q_EMIT openRequested(QStringLiteral("curves"), QStringLiteral("run:") + button.target);
        return;
    case Command::OpenRuns:
        Q_EMIT openRequested(QStringLiteral("runs"), QStringLiteral("run:") + button.target);
        return;
    case Command::OpenPhase:
        Q_EMIT openRequested(button.target, {});
        return;
    }
}

} // namespace lockstep
