#include "ui/pages/runs_page.h"

#include "core/config/imported_series.h"
#include "ui/models/format.h"
#include "ui/models/next_action.h"
#include "ui/models/project_model.h"
#include "ui/models/run_repeat.h"
#include "ui/models/runs_filter_model.h"
#include "ui/models/runs_model.h"
#include "ui/pages/config_diff_pane.h"
#include "ui/pages/new_run_panel.h"
#include "ui/pages/run_removal.h"
#include "ui/pages/script_panel.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/icons.h"

#include <QCheckBox>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QSplitter>
#include <QUndoStack>

#include <algorithm>

namespace lockstep {

namespace {

constexpr int kWordsWidth = 540; // below, the filter and the buttons of the bar have no room for words

} // namespace

RunsPage::RunsPage(const PageContext& context, QWidget* parent)
    : Page(context, tr("Runs"), parent),
      filter_(new RunsFilterModel(this)),
      rows_(new QSplitter(Qt::Vertical, this)),
      columns_(new QSplitter(Qt::Horizontal, this)),
      form_(new NewRunPanel(context.commands, this)),
      script_(new ScriptPanel(context, this)),
      diff_(new ConfigDiffPane(this)),
      banner_(new Banner(this))
{
    auto* newRun = button(tr("New run"), QStringLiteral("plus"), this);
    newRun->setToolTip(tr("New run (F5)"));
    newRun->setObjectName(QStringLiteral("newRun"));
    compare_ = primaryButton(tr("Compare A and B"), QStringLiteral("curves"), this);
    headActions()->addWidget(newRun);
    headActions()->addWidget(compare_);

    filter_->setSourceModel(&context.runs);
    rows_->addWidget(makeTable());
    rows_->addWidget(diff_);
    rows_->setStretchFactor(0, 3);
    rows_->setStretchFactor(1, 2);
    rows_->setChildrenCollapsible(false);
    columns_->addWidget(rows_);
    columns_->addWidget(form_);
    columns_->addWidget(script_);
    columns_->setStretchFactor(0, 1);
    columns_->setChildrenCollapsible(false);
    form_->hide();
    script_->hide();
    body()->addWidget(columns_, 1);

    connect(newRun, &QPushButton::clicked, this, [this] { open(QStringLiteral("new")); });
    connect(compare_, &QPushButton::clicked, this,
            [this] { Q_EMIT openRequested(QStringLiteral("curves"), {}); });
    connect(form_, &NewRunPanel::closeRequested, this, [this] { escape(); });
    connect(form_, &NewRunPanel::scriptRequested, this, &RunsPage::showScript);
    connect(script_, &ScriptPanel::closeRequested, this, [this] { escape(); });
    connect(script_, &ScriptPanel::builtInRequested, this, [this] { open(QStringLiteral("new")); });
    connect(script_, &ScriptPanel::openRequested, this, &RunsPage::openRequested);
    connect(&context.project, &ProjectModel::changed, this, [this] {
        updateActions();
        updateDiff();
    });
    connect(&context.selection, &RunSelection::runsChanged, this, [this] {
        updateActions();
        updateDiff();
    });
    connect(&context.commands, &RunCommands::failed, this,
            [this](const QString& command, const QString& sentence) {
                if (command != QLatin1String("gate") && command != QLatin1String("init") &&
                    !(command == QLatin1String("probe") && script_->isVisible())) // said there
                    banner_->showMessage(State::Failed, sentence);
            });
    connect(&context.commands, &RunCommands::runStarted, this, [this](const QString& id) {
        banner_->clear();
        table_->selectId(id);
    });
    updateActions();
    updateDiff();
}

QWidget* RunsPage::makeTable()
{
    auto* box = new QWidget(this);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);

    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(20, 6, 16, 6);
    bar->setSpacing(8);
    filterEdit_ = new QLineEdit(box);
    filterEdit_->setPlaceholderText(QStringLiteral("mode:ddp world:2 state:diverged"));
    filterEdit_->setAccessibleName(tr("Filter runs"));
    filterEdit_->addAction(icon(QStringLiteral("filter"), Tone::Hint), QLineEdit::LeadingPosition);
    filterEdit_->setClearButtonEnabled(true);
    filterEdit_->setMinimumWidth(120); // beside an open form
    filterEdit_->setMaximumWidth(300);
    stop_ = button(tr("Stop"), QStringLiteral("stop"), box);
    stop_->setObjectName(QStringLiteral("stopRun"));
    stop_->setToolTip(tr("Finish the step, save a checkpoint, end"));
    rerun_ = button(tr("Run again"), QStringLiteral("rerun"), box);
    rerun_->setObjectName(QStringLiteral("rerun"));
    remove_ = button(tr("Delete"), QStringLiteral("trash"), box);
    remove_->setToolTip(tr("Delete (Del); Ctrl+Z takes it back"));
    bar->addWidget(filterEdit_, 3);
    bar->addWidget(stop_);
    bar->addWidget(rerun_);
    bar->addWidget(remove_);
    auxiliary_ = new QCheckBox(box);
    auxiliary_->setObjectName(QStringLiteral("showAuxiliary"));
    auxiliary_->setToolTip(tr("Runs that gates, drills and proofs started for themselves"));
    headActions()->insertWidget(0, auxiliary_); // the bar is short beside an open form
    bar->addStretch(1);
    auto* keys = new ElidedLabel("hint", box, Qt::ElideRight);
    keys->setFullText(tr("Space marks A, Shift+Space marks B, Enter opens, Del deletes with undo"));
    keys->setWholePhrases(true);
    keys->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    bar->addWidget(keys);
    column->addLayout(bar);
    column->addWidget(banner_);
    column->addWidget(horizontalLine(box));

    table_ = new DataTable(box);
    table_->setObjectName(QStringLiteral("runsTable"));
    table_->setAccessibleName(tr("Runs"));
    table_->setModel(filter_);
    table_->setColumnPlan(RunsModel::Against,
                          {RunsModel::Config, RunsModel::Backend, RunsModel::Time, RunsModel::Started,
                           RunsModel::Steps, RunsModel::World, RunsModel::LastLoss, RunsModel::Mode});
    table_->setSortingEnabled(false);
    table_->setEmptyText(tr("No runs to show. F5 starts one."));
    table_->installEventFilter(this);
    column->addWidget(table_, 1);

    connect(auxiliary_, &QCheckBox::toggled, this, &RunsPage::showAuxiliary);
    connect(filterEdit_, &QLineEdit::textChanged, filter_, &RunsFilterModel::setFilterText);
    connect(table_, &DataTable::currentIdChanged, this, &RunsPage::updateActions);
    connect(table_, &DataTable::activatedId, this, [this](const QString& id) {
        Q_EMIT openRequested(QStringLiteral("curves"), QStringLiteral("run:") + id);
    });
    // A click on a head sorts by it; the third click goes back to newest first.
    connect(table_->horizontalHeader(), &QHeaderView::sectionClicked, this, [this](int section) {
        QHeaderView* head = table_->horizontalHeader();
        const bool same = head->isSortIndicatorShown() && head->sortIndicatorSection() == section;
        if (same && head->sortIndicatorOrder() == Qt::DescendingOrder) {
            head->setSortIndicatorShown(false);
            filter_->sort(-1);
            return;
        }
        const Qt::SortOrder order = same ? Qt::DescendingOrder : Qt::AscendingOrder;
        head->setSortIndicatorShown(true);
        head->setSortIndicator(section, order);
        filter_->sort(section, order);
    });
    connect(stop_, &QPushButton::clicked, this, [this] { context().commands.stopRun(currentRun()); });
    connect(rerun_, &QPushButton::clicked, this, [this] {
        if (const RunEntry* run = context().project.snapshot()->run(currentRun()))
            repeatRun(context().commands, *run);
    });
    connect(remove_, &QPushButton::clicked, this, &RunsPage::removeCurrent);
    return box;
}

QString RunsPage::currentRun() const
{
    return table_->currentId();
}

void RunsPage::updateActions()
{
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    const RunEntry* run = snapshot->run(currentRun());
    const bool writable = context().project.isOpen() && !snapshot->readOnly;
    stop_->setEnabled(run && run->running());
    rerun_->setEnabled(run && canRepeat(*run) && writable);
    remove_->setEnabled(run && !run->running() && writable);
    compare_->setEnabled(!context().selection.runA().isEmpty() && !context().selection.runB().isEmpty());
    const int marked =
        int(!context().selection.runA().isEmpty()) + int(!context().selection.runB().isEmpty());
    const int hidden = int(std::count_if(snapshot->runs.begin(), snapshot->runs.end(),
                                         [](const RunEntry& entry) { return entry.auxiliary(); }));
    auxiliary_->setText(tr("Show runs of gates and drills (%1)").arg(hidden));
    auxiliary_->setVisible(hidden > 0);
    table_->setEmptyText(hidden > 0 && !auxiliary_->isChecked()
                             ? tr("No runs of your own yet. F5 starts one.")
                             : tr("No runs to show. F5 starts one."));
    QString text = tr("%n run(s)", nullptr, int(snapshot->runs.size()) - hidden);
    if (hidden > 0)
        text += QStringLiteral(", ") + tr("%n of gates and drills", nullptr, hidden);
    if (marked > 0)
        text += QStringLiteral(", ") + tr("%n marked", nullptr, marked);
    setSubtitle(text);
}

void RunsPage::updateDiff()
{
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    diff_->setRuns(snapshot->run(context().selection.runA()), snapshot->run(context().selection.runB()));
}

void RunsPage::mark(bool asB)
{
    RunSelection& selection = context().selection;
    const QString run = currentRun();
    if (run.isEmpty())
        return;
    if (asB)
        selection.setRuns(selection.runA() == run ? QString() : selection.runA(), run);
    else
        selection.setRuns(run, selection.runB());
    Q_EMIT statusTextChanged(diff_->title());
}

void RunsPage::removeCurrent()
{
    const RunEntry* run = context().project.snapshot()->run(currentRun());
    if (run && remove_->isEnabled())
        context().undo.push(new RunRemoval(context().commands, run->id(), run->name()));
}

void RunsPage::showForm(const RunConfig& config, const std::string& onLoss)
{
    form_->setConfig(config);
    form_->setOnLoss(onLoss);
    showPanel(form_, 348);
    form_->focusFirst();
}

void RunsPage::showScript()
{
    script_->suggest();
    showPanel(script_, 440);
    script_->focusFirst();
}

// One of the forms at the right, in the place of the other.
void RunsPage::showPanel(QWidget* panel, int panelWidth)
{
    form_->setVisible(panel == form_);
    script_->setVisible(panel == script_);
    QList<int> sizes{width() - panelWidth, 0, 0};
    sizes[columns_->indexOf(panel)] = panelWidth;
    columns_->setSizes(sizes);
}

void RunsPage::showAuxiliary(bool shown)
{
    const QString current = currentRun();
    filter_->setAuxiliaryShown(shown);
    table_->selectId(current); // hidden: the row that Qt chose instead
    updateActions();
}

void RunsPage::open(const QString& argument)
{
    if (argument.startsWith(QLatin1String("new"))) {
        const ProjectSnapshotPtr snapshot = context().project.snapshot();
        const QString mode = argument.section(QLatin1Char(':'), 1);
        // The newest run that people made with the engine is the best guess for the next one, without what was broken on
        // purpose.
        const auto newest =
            std::find_if(snapshot->runs.begin(), snapshot->runs.end(), [](const RunEntry& run) {
                return !run.auxiliary() && run.configReadable && !run.command &&
                       run.config.mode != kImportedMode && !run.config.workloadOptions.contains("script");
            });
        RunConfig config = newest == snapshot->runs.end() ? starterConfig(snapshot->info.workload, "single")
                                                          : newest->config;
        config.faults.clear();
        if (!mode.isEmpty() && qs(config.mode) != mode) {
            const int world = config.mode == "single" ? std::max(config.alignWorld, 2) : config.world;
            config.mode = mode.toStdString();
            config.world = config.mode == "single" ? 1 : world;
            config.alignWorld = config.mode == "single" ? world : 1;
        }
        config.name.clear();
        showForm(config, newest == snapshot->runs.end() ? "stop" : newest->onLoss);
    } else if (argument == QLatin1String("script")) {
        showScript();
    } else if (argument.startsWith(QLatin1String("run:"))) {
        const RunEntry* run = context().project.snapshot()->run(argument.mid(4));
        if (run && run->auxiliary())
            auxiliary_->setChecked(true);
        table_->selectId(argument.mid(4));
        table_->setFocus();
    } else if (!table_->currentIndex().isValid() && filter_->rowCount() > 0) {
        table_->setCurrentIndex(filter_->index(0, RunsModel::StateColumn));
        table_->setFocus();
    }
}

bool RunsPage::escape()
{
    if (form_->isVisible() || script_->isVisible()) {
        form_->hide();
        script_->hide();
        table_->setFocus();
        return true;
    }
    if (!filterEdit_->text().isEmpty()) {
        filterEdit_->clear();
        return true;
    }
    return false;
}

void RunsPage::togglePanel()
{
    if (!escape())
        open(QStringLiteral("new"));
}

QJsonObject RunsPage::saveState() const
{
    return {{QStringLiteral("filter"), filterEdit_->text()},
            {QStringLiteral("current"), currentRun()},
            {QStringLiteral("auxiliary"), auxiliary_->isChecked()},
            {QStringLiteral("script"), toSession(script_->setup())},
            {QStringLiteral("rows"), QString::fromLatin1(rows_->saveState().toBase64())}};
}

void RunsPage::restoreState(const QJsonObject& state)
{
    filterEdit_->setText(state.value(QStringLiteral("filter")).toString());
    auxiliary_->setChecked(state.value(QStringLiteral("auxiliary")).toBool());
    script_->setSetup(fromSession(state.value(QStringLiteral("script")).toObject()));
    table_->selectId(state.value(QStringLiteral("current")).toString());
    const QByteArray rows = QByteArray::fromBase64(state.value(QStringLiteral("rows")).toString().toLatin1());
    if (!rows.isEmpty())
        rows_->restoreState(rows);
}

bool RunsPage::busy() const
{
    return script_->busy();
}

bool RunsPage::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == table_ && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Space) {
            mark(key->modifiers().testFlag(Qt::ShiftModifier));
            return true;
        }
        if (key->key() == Qt::Key_Delete) {
            removeCurrent();
            return true;
        }
    }
    if (watched == table_ && event->type() == QEvent::Resize)
        for (QPushButton* one : {stop_, rerun_, remove_})
            setIconOnly(one, table_->width() < kWordsWidth);
    return Page::eventFilter(watched, event);
}

} // namespace lockstep
