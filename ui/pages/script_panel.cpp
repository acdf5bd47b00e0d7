#include "ui/pages/script_panel.h"

#include "ui/models/format.h"
#include "ui/models/known_interpreters.h"
#include "ui/models/project_model.h"
#include "ui/pages/script_runs_view.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/icons.h"

#include <QComboBox>
#include <QDir>
#include <QEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStyle>

#include <algorithm>

namespace lockstep {

ScriptPanel::ScriptPanel(const PageContext& context, QWidget* parent) : QFrame(parent), context_(context)
{
    setObjectName(QStringLiteral("scriptPanel"));
    setAccessibleName(tr("Use my script"));
    setMinimumWidth(400);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeHead());
    column->addWidget(horizontalLine(this));
    column->addWidget(makeForm(), 1);
    column->addWidget(horizontalLine(this));
    column->addWidget(makeFoot());

    connect(&context.commands, &RunCommands::interpreterChecked, this, &ScriptPanel::interpreterSaid);
    connect(&context.commands, &RunCommands::failed, this,
            [this](const QString& command, const QString& sentence) {
                if (command == QLatin1String("probe") && runs_->following())
                    banner_->showMessage(State::Failed, sentence);
            });
    connect(&context.project, &ProjectModel::changed, this, &ScriptPanel::refresh);
    refresh();
}

QWidget* ScriptPanel::makeHead()
{
    auto* box = new QWidget(this);
    box->setFixedHeight(36);
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(16, 0, 8, 0);
    row->addWidget(label("paneTitle", tr("Use my script"), box));
    row->addStretch(1);
    auto* builtIn = linkButton(tr("Built-in workload"), box);
    builtIn->setObjectName(QStringLiteral("toBuiltIn"));
    row->addWidget(builtIn);
    auto* close = new QToolButton(box);
    close->setIcon(icon(QStringLiteral("close"), Tone::Secondary));
    close->setToolTip(tr("Close (Esc)"));
    close->setAccessibleName(tr("Close the form"));
    row->addWidget(close);
    connect(builtIn, &QPushButton::clicked, this, &ScriptPanel::builtInRequested);
    connect(close, &QToolButton::clicked, this, &ScriptPanel::closeRequested);
    return box;
}

QLineEdit* ScriptPanel::makeEdit(const char* name, const QString& hint)
{
    auto* edit = new QLineEdit(this);
    edit->setObjectName(QString::fromLatin1(name));
    edit->setPlaceholderText(hint);
    connect(edit, &QLineEdit::textChanged, this, &ScriptPanel::refresh);
    connect(edit, &QLineEdit::returnPressed, this, &ScriptPanel::start);
    return edit;
}

QToolButton* ScriptPanel::makeChooser(const QString& what, const std::function<void()>& act)
{
    auto* choose = new QToolButton(this);
    choose->setIcon(icon(QStringLiteral("folder"), Tone::Secondary));
    choose->setToolTip(what);
    choose->setAccessibleName(what);
    connect(choose, &QToolButton::clicked, this, act);
    return choose;
}

ScriptPanel::Field ScriptPanel::addField(QVBoxLayout* column, const QString& title, QWidget* editor,
                                         QToolButton* choose)
{
    auto* name = label("secondary", title, this);
    name->setBuddy(editor);
    editor->setAccessibleName(title);
    auto* row = new QHBoxLayout;
    row->setSpacing(4);
    row->addWidget(editor, 1);
    if (choose)
        row->addWidget(choose);
    QLabel* note = wrappedLabel("note", {}, this);
    note->setObjectName(editor->objectName() + QStringLiteral("Note"));
    column->addWidget(name);
    column->addLayout(row);
    column->addWidget(note);
    column->addSpacing(8);
    return {editor, note};
}

QWidget* ScriptPanel::makeForm()
{
    auto* body = new QWidget(this);
    body->setObjectName(QStringLiteral("scrollBody"));
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(16, 12, 16, 12);
    column->setSpacing(3);
    folder_ = makeEdit("scriptFolder", tr("the folder from which you start it"));
    folderField_ =
        addField(column, tr("working folder"), folder_, makeChooser(tr("Choose the working folder"), [this] {
                     const QString folder = QFileDialog::getExistingDirectory(
                         this, tr("Choose the working folder"), folder_->text());
                     if (!folder.isEmpty())
                         folder_->setText(folder);
                 }));
    interpreter_ = new QComboBox(this);
    interpreter_->setObjectName(QStringLiteral("scriptInterpreter"));
    interpreter_->setEditable(true);
    interpreter_->setInsertPolicy(QComboBox::NoInsert);
    interpreter_->setCompleter(nullptr); // a completed path would be one that nobody chose
    interpreter_->setMinimumContentsLength(10);
    interpreter_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    interpreter_->lineEdit()->setPlaceholderText(QStringLiteral(".venv/bin/python"));
    connect(interpreter_, &QComboBox::currentTextChanged, this, &ScriptPanel::refresh);
    connect(interpreter_, &QComboBox::activated, this, &ScriptPanel::interpreterChosen);
    connect(interpreter_->lineEdit(), &QLineEdit::textEdited, this, &ScriptPanel::interpreterChosen);
    interpreterField_ =
        addField(column, tr("interpreter"), interpreter_, makeChooser(tr("Choose the interpreter"), [this] {
                     const QString path =
                         QFileDialog::getOpenFileName(this, tr("Choose the interpreter"), folder_->text());
                     if (path.isEmpty())
                         return;
                     interpreter_->setCurrentText(path);
                     interpreterChosen();
                 }));
    ask_ = linkButton(tr("Ask it for its torch"), this);
    ask_->setObjectName(QStringLiteral("askInterpreter"));
    ask_->hide();
    column->insertWidget(column->count() - 1, ask_, 0, Qt::AlignLeft); // under its note
    connect(ask_, &QPushButton::clicked, this, &ScriptPanel::interpreterChosen);
    single_ = makeEdit("scriptSingle", QStringLiteral("python train.py"));
    singleField_ = addField(
        column, tr("command, one process"), single_,
        makeChooser(tr("Choose the script"), [this] { chooseScript(single_, QStringLiteral("python")); }));
    ddp_ = makeEdit("scriptDdp", QStringLiteral("torchrun --nproc-per-node 2 train_ddp.py"));
    ddpField_ = addField(column, tr("command, several ranks"), ddp_,
                         makeChooser(tr("Choose the script for several ranks"), [this] {
                             chooseScript(ddp_, QStringLiteral("torchrun --nproc-per-node 2"));
                         }));
    ranks_ = new QSpinBox(this);
    ranks_->setObjectName(QStringLiteral("scriptRanks"));
    ranks_->setRange(0, 1024);
    ranks_->setSpecialValueText(tr("as the command says"));
    connect(ranks_, &QSpinBox::valueChanged, this, &ScriptPanel::refresh);
    addField(column, tr("ranks"), ranks_).note->hide();
    metric_ = makeEdit("scriptMetric", tr("none; for example loss=([0-9.]+)"));
    metricField_ = addField(column, tr("pattern of the printed loss"), metric_);
    linesTitle_ = label("section", tr("What will run"), this);
    lines_ = new CodeBlock(this);
    lines_->setObjectName(QStringLiteral("scriptLines"));
    column->addWidget(linesTitle_);
    column->addWidget(lines_);
    column->addStretch(1);

    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(body);
    return scroll;
}

QWidget* ScriptPanel::makeFoot()
{
    auto* box = new QWidget(this);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(16, 12, 16, 12);
    column->setSpacing(8);
    banner_ = new Banner(box);
    start_ = primaryButton(tr("Run both"), QStringLiteral("play"), box);
    start_->setObjectName(QStringLiteral("startScript"));
    runs_ = new ScriptRunsView(context_, box);
    column->addWidget(banner_);
    column->addWidget(runs_);
    column->addWidget(start_);
    connect(start_, &QPushButton::clicked, this, &ScriptPanel::start);
    connect(runs_, &ScriptRunsView::openRequested, this, &ScriptPanel::openRequested);
    return box;
}

// The command with this file as its script; what else stands in the field stays.
void ScriptPanel::chooseScript(QLineEdit* edit, const QString& launcher)
{
    const QString path = QFileDialog::getOpenFileName(this, tr("Choose the script"), folder_->text(),
                                                      tr("Python (*.py);;All files (*)"));
    if (path.isEmpty())
        return;
    const QString inFolder = QDir(folder_->text()).relativeFilePath(path);
    const QString script = inFolder.startsWith(QLatin1String("..")) ? path : inFolder;
    const QString quoted =
        script.contains(QLatin1Char(' ')) ? QLatin1Char('"') + script + QLatin1Char('"') : script;
    edit->setText(launcher + QLatin1Char(' ') + quoted);
    edit->setFocus();
}

void ScriptPanel::setSetup(const ScriptSetup& setup)
{
    const QSignalBlocker blocked[] = {QSignalBlocker(folder_), QSignalBlocker(interpreter_),
                                      QSignalBlocker(single_), QSignalBlocker(ddp_),
                                      QSignalBlocker(metric_), QSignalBlocker(ranks_)};
    folder_->setText(setup.folder);
    interpreter_->clear();
    interpreter_->addItems(interpreterChoices(setup.folder));
    interpreter_->setEditText(setup.interpreter);
    single_->setText(setup.single);
    ddp_->setText(setup.ddp);
    metric_->setText(setup.metric);
    ranks_->setValue(setup.ranks);
    refresh();
}

ScriptSetup ScriptPanel::setup() const
{
    return {folder_->text(), interpreter_->currentText(), single_->text(), ddp_->text(), metric_->text(),
            ranks_->value()};
}

void ScriptPanel::suggest()
{
    const ScriptSetup now = setup();
    if (!now.single.trimmed().isEmpty() || !now.ddp.trimmed().isEmpty())
        return;
    const RunEntry* newest[] = {nullptr, nullptr};
    for (const RunEntry& run : context_.project.snapshot()->runs)
        if (run.command && !newest[run.command->ddp])
            newest[run.command->ddp] = &run;
    ScriptSetup suggested =
        fromCommands(newest[0] ? &*newest[0]->command : nullptr, newest[1] ? &*newest[1]->command : nullptr);
    if (suggested.folder.isEmpty())
        suggested.folder = now.folder.isEmpty() ? QFileInfo(context_.project.folder()).path() : now.folder;
    if (suggested.metric.isEmpty())
        suggested.metric = now.metric;
    if (suggested.interpreter.isEmpty())
        suggested.interpreter = now.interpreter;
    if (suggested.interpreter.isEmpty()) {
        suggestions_ = interpreterChoices(suggested.folder);
        suggested.interpreter = suggestions_.value(0);
    }
    setSetup(suggested);
}

void ScriptPanel::tell(const Field& field, const QString& problem, const QString& fact)
{
    const QString text = problem.isEmpty() ? fact : problem;
    const char* const role = problem.isEmpty() ? "note" : "error";
    if (field.note->property("role").toString() != QLatin1String(role)) {
        field.note->setProperty("role", role);
        field.note->style()->unpolish(field.note);
        field.note->style()->polish(field.note);
    }
    field.note->setText(text);
    field.note->setVisible(!text.isEmpty());
    field.editor->setAccessibleDescription(text); // read out with the field
}

void ScriptPanel::interpreterChosen()
{
    chosen_ = interpreterPath(setup());
    refresh();
}

void ScriptPanel::interpreterSaid(const InterpreterFacts& facts)
{
    known_.insert(facts.path, facts);
    if (asked_ == facts.path)
        asked_.clear();
    if (facts.error.isEmpty() && facts.path == chosen_)
        rememberInterpreter(facts.path);
    // Only what was suggested is replaced by the next suggestion.
    if (!facts.error.isEmpty() && suggestions_.size() > 1 && suggestions_.front() == facts.path &&
        interpreter_->currentText() == suggestions_.front()) {
        suggestions_.removeFirst();
        interpreter_->setEditText(suggestions_.front());
    }
    refresh();
}

bool ScriptPanel::torchKnown() const
{
    const InterpreterFacts facts = known_.value(interpreterPath(setup()));
    return !facts.torch.isEmpty() && facts.error.isEmpty();
}

// What the field of the interpreter says below it, which may first have to be asked for.
void ScriptPanel::tellInterpreter(const QString& problem)
{
    const QString path = interpreterPath(setup());
    const bool may = path == chosen_ || isKnownInterpreter(path);
    if (!path.isEmpty() && isVisible() && may) // nothing is started for a form that nobody sees
        askInterpreter(path);
    const InterpreterFacts facts = known_.value(path);
    const bool waits = !path.isEmpty() && !may && facts.path.isEmpty();
    tell(interpreterField_, problem.isEmpty() ? facts.error : problem,
         torchKnown()                               ? tr("Python %1, torch %2").arg(facts.python, facts.torch)
         : waits                                    ? tr("The project names it. It was not started yet.")
         : !path.isEmpty() && facts.error.isEmpty() ? tr("asking for its torch")
                                                    : QString());
    ask_->setVisible(waits);
}

void ScriptPanel::askInterpreter(const QString& path)
{
    if (path == asked_ || known_.contains(path))
        return;
    asked_ = path;
    context_.commands.checkInterpreter(path);
}

QList<ScriptRun> ScriptPanel::scripts(const ScriptSetup& setup) const
{
    QList<ScriptRun> runs;
    if (!setup.single.trimmed().isEmpty())
        runs << ScriptRun{{}, singleCommand(setup)};
    if (!setup.ddp.trimmed().isEmpty())
        runs << ScriptRun{{}, ddpCommand(setup)};
    return runs;
}

void ScriptPanel::refresh()
{
    if (!start_)
        return; // still being built
    const ScriptSetup now = setup();
    const ScriptProblems problems = problemsOf(now);
    tell(folderField_, problems.folder);
    tellInterpreter(problems.interpreter);
    // An empty form is not wrong yet.
    const bool empty = now.single.trimmed().isEmpty() && now.ddp.trimmed().isEmpty();
    tell(singleField_, empty ? QString() : problems.single);
    tell(ddpField_, problems.ddp,
         problems.ddp.isEmpty() && !now.ddp.trimmed().isEmpty() && problems.folder.isEmpty()
             ? tr("%n rank(s)", nullptr, ddpCommand(now).world)
             : QString());
    tell(metricField_, problems.metric);

    const QList<ScriptRun> runs = scripts(now);
    const ProjectSnapshotPtr snapshot = context_.project.snapshot();
    QStringList lines;
    if (problems.none())
        for (const ScriptRun& run : runs)
            lines << context_.commands.scriptLine(run);
    lines_->setCode(lines.join(QLatin1Char('\n')));
    lines_->setVisible(!lines.isEmpty());
    linesTitle_->setVisible(!lines.isEmpty());
    if (context_.project.isOpen() && snapshot->readOnly)
        banner_->showMessage(State::Off, tr("This project is read-only"), tr("Nothing can be started here."));
    start_->setEnabled(problems.none() && torchKnown() && context_.project.isOpen() && !snapshot->readOnly);
    start_->setText(runs.size() != 1              ? tr("Run one process, then several ranks")
                    : now.ddp.trimmed().isEmpty() ? tr("Run one process")
                                                  : tr("Run several ranks"));
}

void ScriptPanel::start()
{
    if (!start_->isEnabled())
        return;
    banner_->clear();
    const QList<ScriptRun> runs = scripts(setup());
    runs_->follow(runs);
    context_.commands.startScripts(runs);
}

// Whoever comes back from a terminal may have made the file or the environment that was missing.
bool ScriptPanel::event(QEvent* event)
{
    const bool handled = QFrame::event(event);
    if (event->type() == QEvent::WindowActivate || event->type() == QEvent::Show) {
        known_.removeIf([](const auto& entry) { return !entry.value().error.isEmpty(); });
        refresh();
    }
    return handled;
}

void ScriptPanel::focusFirst()
{
    QWidget* const first = folder_->text().isEmpty() ? static_cast<QWidget*>(folder_) : single_;
    first->setFocus();
}

} // namespace lockstep
