#include "ui/window/main_window.h"

#include "ui/models/format.h"
#include "ui/models/next_action.h"
#include "ui/pages/page.h"
#include "ui/pages/start_page.h"
#include "ui/widgets/building_blocks.h"
#include "ui/window/go_to_box.h"
#include "ui/window/keys_panel.h"
#include "ui/window/main_menu.h"
#include "ui/window/page_registry.h"
#include "ui/window/rail.h"

#include <QCloseEvent>
#include <QComboBox>
#include <QCoreApplication>
#include <QDir>
#include <QFileDialog>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QUndoStack>

namespace lockstep {

namespace {

constexpr int kRailCollapsesBelow = 1400;
constexpr int kMostRecent = 8;

} // namespace

MainWindow::MainWindow(RunCommands& commands, QWidget* parent)
    : QMainWindow(parent),
      commands_(commands),
      undo_(new QUndoStack(this)),
      context_(new PageContext{project_, runs_, gates_, comparisons_, selection_, commands_, *undo_}),
      rail_(new Rail(gates_, this)),
      stack_(new QStackedWidget(this)),
      start_(new StartPage(commands, workloads_, this)),
      keys_(new KeysPanel(this)),
      goTo_(new GoToBox(this)),
      writer_(new QLabel(this)),
      size_(new QLabel(this)),
      message_(new QLabel(this))
{
    setWindowTitle(QStringLiteral("Lockstep"));
    setMinimumSize(900, 560);
    resize(1600, 1000);
    setAcceptDrops(true);
    auto* center = new QWidget(this);
    auto* row = new QHBoxLayout(center);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(rail_);
    row->addWidget(verticalLine(center));
    row->addWidget(stack_, 1);
    setCentralWidget(center);
    stack_->addWidget(start_);

    auto* corner = new QWidget(this);
    auto* cornerRow = new QHBoxLayout(corner);
    cornerRow->setContentsMargins(0, 1, 8, 1);
    cornerRow->addWidget(goTo_);
    menuBar()->setCornerWidget(corner);
    rail_->setProjectMenu(MainMenu::install(*this));

    statusBar()->setSizeGripEnabled(false);
    statusBar()->addWidget(writer_);
    statusBar()->addWidget(size_, 1);
    statusBar()->addPermanentWidget(message_);
    statusBar()->addPermanentWidget(new QLabel(tr("F1 keys"), this));

    connect(rail_, &Rail::chosen, this, [this](const QString& id) { openPage(id); });
    connect(goTo_, &GoToBox::chosen, this, &MainWindow::openPage);
    connect(start_, &StartPage::openRequested, this, &MainWindow::chooseProject);
    connect(start_, &StartPage::openFolderRequested, this, &MainWindow::openProject);
    connect(start_, &StartPage::startRequested, this, &MainWindow::startWorkload);
    connect(start_, &StartPage::scriptRequested, this, [this](const QString& folder) {
        scriptAfterCreate_ = true;
        commands_.createProject(folder, QStringLiteral("toy-mlp"));
    });
    connect(&project_, &ProjectModel::opened, this, &MainWindow::projectOpened);
    connect(&project_, &ProjectModel::closed, this, &MainWindow::projectClosed);
    connect(&project_, &ProjectModel::openFailed, this, [this](const QString&, const QString& sentence) {
        // With a project open the window stays where it is and says so below.
        if (project_.isOpen())
            message_->setText(sentence);
        else
            start_->showError(sentence);
    });
    connect(&project_, &ProjectModel::changed, this, &MainWindow::snapshotChanged);
    connect(&project_, &ProjectModel::problem, this, [this](const QString& sentence) {
        problem_ = sentence;
        updateStatus();
    });
    connect(&comparisons_, &ComparisonModel::verdictsChanged, &runs_, &RunsModel::setVerdicts);
    connect(&selection_, &RunSelection::runsChanged, this,
            [this] { runs_.setMarks(selection_.runA(), selection_.runB()); });
    connect(&commands_, &RunCommands::projectCreated, this, &MainWindow::openProject);
    connect(&commands_, &RunCommands::gateStarted, &gates_, &GatesModel::setJudging);
    connect(&commands_, &RunCommands::gateJudged, &gates_, [this] { gates_.setJudging({}); });
    connect(&commands_, &RunCommands::failed, this, [this](const QString& command, const QString& sentence) {
        if (command == QLatin1String("gate"))
            gates_.setJudging({});
        if (command == QLatin1String("init"))
            scriptAfterCreate_ = false;
        if (!project_.isOpen())
            start_->showError(sentence);
        else if (command == QLatin1String("import"))
            message_->setText(sentence);
    });
    connect(&commands_, &RunCommands::logsImported, this, &MainWindow::logsImported);
    connect(&commands_, &RunCommands::runStarted, &project_, &ProjectModel::refresh);
    for (const auto signal : {&RunCommands::runRemoved, &RunCommands::runRestored, &RunCommands::gateJudged,
                              &RunCommands::drillPlayed})
        connect(&commands_, signal, &project_, &ProjectModel::refresh);
    connect(&commands_, &RunCommands::diagnosed, &project_, &ProjectModel::refresh);
    connect(undo_, &QUndoStack::indexChanged, this, [this] {
        if (undo_->canUndo())
            message_->setText(tr("Last action: %1. Ctrl+Z takes it back.").arg(undo_->undoText()));
        else
            message_->clear();
    });
    QCoreApplication::instance()->installEventFilter(this);
    start_->setRecentProjects(QSettings().value(QStringLiteral("recentProjects")).toStringList());
    projectClosed();
}

MainWindow::~MainWindow()
{
    // Pages hold references to the models, which are members and die first otherwise.
    for (Page* page : std::as_const(pages_))
        delete page;
}

void MainWindow::openProject(const QString& folder)
{
    saveSession();
    project_.open(folder);
}

void MainWindow::projectOpened()
{
    problem_.clear();
    const ProjectSnapshotPtr snapshot = project_.snapshot();
    commands_.setProjectFolder(project_.folder());
    rail_->setProject(qs(snapshot->info.name), project_.folder());
    setWindowTitle(tr("%1 - Lockstep").arg(qs(snapshot->info.name)));
    start_->showError({});
    undo_->clear();
    rememberProject(project_.folder());
    snapshotChanged(snapshot);
    restoreSession();
    for (const RunConfig& config : std::exchange(startAfterCreate_, {}))
        commands_.startRun(config);
    if (std::exchange(scriptAfterCreate_, false))
        openPage(QStringLiteral("runs"), QStringLiteral("script"));
}

void MainWindow::projectClosed()
{
    commands_.setProjectFolder({});
    rail_->setProject({}, {});
    rail_->setSnapshot({}, false);
    rail_->setCurrent({});
    gates_.setSnapshot({}, false);
    runs_.setSnapshot(std::make_shared<const ProjectSnapshot>());
    selection_.setRuns({}, {});
    selection_.setExtraRuns({});
    setWindowTitle(QStringLiteral("Lockstep"));
    currentId_.clear();
    stack_->setCurrentWidget(start_);
    start_->focusFirst();
    updateStatus();
}

void MainWindow::snapshotChanged(const ProjectSnapshotPtr& snapshot)
{
    QStringList existing;
    for (const RunEntry& run : snapshot->runs)
        existing << run.id();
    selection_.keepOnly(existing);
    runs_.setSnapshot(snapshot);
    gates_.setSnapshot(*snapshot, true);
    comparisons_.setSnapshot(snapshot);
    rail_->setSnapshot(*snapshot, true);
    goTo_->setSnapshot(*snapshot);
    updateStatus();
}

Page* MainWindow::page(const QString& id)
{
    if (Page* known = pages_.value(id))
        return known;
    const PageEntry* entry = pageEntry(id);
    if (!entry)
        return nullptr;
    Page* made = entry->make(*context_);
    pages_.insert(id, made);
    stack_->addWidget(made);
    connect(made, &Page::openRequested, this, &MainWindow::openPage);
    connect(made, &Page::statusTextChanged, this, [this](const QString& text) { message_->setText(text); });
    made->restoreState(session_.page(id));
    return made;
}

void MainWindow::openPage(const QString& id, const QString& argument)
{
    const PageEntry* entry = pageEntry(id);
    if (!entry || (!project_.isOpen() && !entry->withoutProject))
        return;
    Page* next = page(id);
    currentId_ = id;
    message_->clear();
    stack_->setCurrentWidget(next);
    rail_->setCurrent(id);
    next->open(argument);
}

bool MainWindow::busy() const
{
    const Page* current = pages_.value(currentId_);
    return comparisons_.busy() || (current && current->busy());
}

void MainWindow::chooseProject()
{
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Open a project folder"));
    if (!folder.isEmpty())
        openProject(folder);
}

void MainWindow::startWorkload(const QString& workload, const QString& folder, int ranks)
{
    startAfterCreate_ = {starterConfig(workload.toStdString(), "single", ranks),
                         starterConfig(workload.toStdString(), "ddp", ranks)};
    commands_.createProject(folder, workload);
}

// Esc in the order of the design: card, page (pin, selection, filter, panel). It never stops a run.
void MainWindow::escape()
{
    if (keys_->isVisible())
        keys_->hide();
    else if (goTo_->hasFocus())
        stack_->currentWidget()->setFocus();
    else if (Page* current = pages_.value(currentId_))
        current->escape();
}

void MainWindow::updateStatus()
{
    if (!project_.isOpen()) {
        writer_->setText(tr("No project open"));
        size_->clear();
        return;
    }
    const ProjectSnapshotPtr snapshot = project_.snapshot();
    QStringList recording;
    for (const RunEntry& run : snapshot->runs)
        if (run.running())
            recording << run.name();
    if (!problem_.isEmpty()) {
        writer_->setText(tr("Store: cannot be read, see Overview"));
        writer_->setToolTip(problem_);
        size_->clear();
        return;
    }
    writer_->setToolTip({});
    writer_->setText(recording.isEmpty() ? tr("Store: no writer")
                                         : tr("Recording: %1").arg(recording.join(QStringLiteral(", "))));
    size_->setText(tr("%1, schema %2%3")
                       .arg(formatBytes(snapshot->bytes))
                       .arg(snapshot->info.schema)
                       .arg(snapshot->readOnly ? tr(", read-only") : QString()));
}

void MainWindow::rememberProject(const QString& folder)
{
    if (!remembering_)
        return;
    QSettings settings;
    QStringList recent = settings.value(QStringLiteral("recentProjects")).toStringList();
    recent.removeAll(folder);
    recent.prepend(folder);
    settings.setValue(QStringLiteral("recentProjects"), QStringList(recent.mid(0, kMostRecent)));
    start_->setRecentProjects(recent.mid(0, kMostRecent));
}

void MainWindow::restoreSession()
{
    session_ = remembering_ ? Session::load(project_.folder()) : Session();
    const QJsonObject chosen = session_.selection();
    QStringList extra;
    for (const QVariant& run : chosen.value(QStringLiteral("extra")).toVariant().toList())
        extra << run.toString();
    selection_.setRuns(chosen.value(QStringLiteral("a")).toString(),
                       chosen.value(QStringLiteral("b")).toString());
    selection_.setExtraRuns(extra);
    if (chosen.contains(QStringLiteral("step")))
        selection_.setStep(chosen.value(QStringLiteral("step")).toInteger());
    QStringList existing;
    for (const RunEntry& run : project_.snapshot()->runs)
        existing << run.id();
    selection_.keepOnly(existing);
    for (auto it = pages_.cbegin(); it != pages_.cend(); ++it)
        it.value()->restoreState(session_.page(it.key()));
    const QJsonObject window = session_.window();
    const QByteArray geometry =
        QByteArray::fromBase64(window.value(QStringLiteral("geometry")).toString().toLatin1());
    if (!geometry.isEmpty())
        restoreGeometry(geometry);
    const QString last = window.value(QStringLiteral("page")).toString();
    openPage(pageEntry(last) ? last : QStringLiteral("overview"));
}

void MainWindow::saveSession()
{
    if (!project_.isOpen() || !remembering_)
        return;
    session_.setWindow({{QStringLiteral("page"), currentId_},
                        {QStringLiteral("geometry"), QString::fromLatin1(saveGeometry().toBase64())}});
    QJsonObject chosen{{QStringLiteral("a"), selection_.runA()},
                       {QStringLiteral("b"), selection_.runB()},
                       {QStringLiteral("extra"), QJsonValue::fromVariant(selection_.extraRuns())}};
    if (selection_.step())
        chosen.insert(QStringLiteral("step"), qint64(*selection_.step()));
    session_.setSelection(chosen);
    for (auto it = pages_.cbegin(); it != pages_.cend(); ++it)
        session_.setPage(it.key(), it.value()->saveState());
    session_.save(); // a read-only project is simply not remembered
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    saveSession();
    QMainWindow::closeEvent(event);
}

void MainWindow::resizeEvent(QResizeEvent* event)
{
    QMainWindow::resizeEvent(event);
    rail_->setCollapsed(width() < kRailCollapsesBelow);
    if (keys_->isVisible())
        keys_->hide();
}

// Letters are shortcuts (D, L, S), but in a list of choices they choose.
bool MainWindow::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride &&
        (qobject_cast<QComboBox*>(watched) || watched->property("typeAhead").toBool())) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool plain = (key->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) == Qt::NoModifier;
        if (plain && !key->text().isEmpty() && key->text().front().isLetterOrNumber()) {
            event->accept();
            return true;
        }
    }
    return QMainWindow::eventFilter(watched, event);
}

} // namespace lockstep
