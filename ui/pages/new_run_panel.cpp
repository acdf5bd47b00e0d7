#include "ui/pages/new_run_panel.h"

#include "ui/models/format.h"
#include "ui/models/run_commands.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/icons.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QScrollArea>
#include <QSpinBox>
#include <QThread>

#include <algorithm>

namespace lockstep {

namespace {

enum OnLoss { Stop, Survivors, One }; // rows of the choice

} // namespace

NewRunPanel::NewRunPanel(RunCommands& commands, QWidget* parent) : QFrame(parent), commands_(commands)
{
    setObjectName(QStringLiteral("newRunPanel"));
    setMinimumWidth(332);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);

    auto* head = new QHBoxLayout;
    head->setContentsMargins(16, 0, 8, 0);
    head->addWidget(label("paneTitle", tr("New run"), this));
    head->addStretch(1);
    auto* script = linkButton(tr("Use my script"), this);
    script->setObjectName(QStringLiteral("toScript"));
    connect(script, &QPushButton::clicked, this, &NewRunPanel::scriptRequested);
    head->addWidget(script);
    auto* close = new QToolButton(this);
    close->setIcon(icon(QStringLiteral("close"), Tone::Secondary));
    close->setToolTip(tr("Close (Esc)"));
    close->setAccessibleName(tr("Close the form"));
    connect(close, &QToolButton::clicked, this, &NewRunPanel::closeRequested);
    head->addWidget(close);
    auto* headBox = new QWidget(this);
    headBox->setFixedHeight(36);
    headBox->setLayout(head);
    column->addWidget(headBox);
    column->addWidget(horizontalLine(this));

    auto* body = new QWidget(this);
    body->setObjectName(QStringLiteral("scrollBody"));
    auto* form = new QFormLayout(body);
    form->setContentsMargins(16, 12, 16, 12);
    form->setHorizontalSpacing(12);
    form->setVerticalSpacing(8);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->setLabelAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    mode_ = addChoice(form, tr("mode"), {"single", "ddp", "twin", "fsdp"}, "mode");
    workload_ = addChoice(form, tr("workload"), {"toy-mlp", "digits-cnn", "char-gpt"}, "workload");
    world_ = addNumber(form, tr("ranks"), 1, 1024, "world");
    worldLabel_ = qobject_cast<QLabel*>(form->labelForField(world_));
    batch_ = addNumber(form, tr("batch per rank"), 1, 1 << 20, "batch");
    steps_ = addNumber(form, tr("steps"), 0, 100'000'000, "steps");
    steps_->setSpecialValueText(tr("the workload's own"));
    accumulate_ = addNumber(form, tr("micro-steps K"), 1, 1024, "accumulate");
    optimizer_ = addChoice(form, tr("optimizer"), {"adam", "adamw", "sgd"}, "optimizer");
    lr_ = addText(form, tr("learning rate"), QStringLiteral("0.001"), "lr");
    scheduler_ = addChoice(form, tr("scheduler"), {"none", "step", "cosine", "warmup"}, "scheduler");
    clip_ = addText(form, tr("clip norm"), tr("off"), "clip_norm");
    seed_ = addNumber(form, tr("seed"), 0, INT_MAX, "seed");
    record_ = addChoice(form, tr("record"), {"step", "tensor", "full", "off"}, "record");
    checkpointEvery_ = addNumber(form, tr("checkpoint every"), 0, 100'000'000, "checkpointEvery");
    checkpointEvery_->setSpecialValueText(tr("only at the end"));
    onLoss_ = addChoice(form, tr("when ranks are lost"),
                        {tr("stop"), tr("go on with fewer"), tr("go on with one")}, "onLoss");
    onLoss_->setToolTip(
        tr("Armed, the run goes on by itself from its last checkpoint: same global batch, same "
           "order of samples, one curve"));
    fault_ = addText(form, tr("fault"), tr("none; for example B6,k=2"), "fault");
    name_ = addText(form, tr("name"), tr("made from mode and ranks"), "name");

    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFocusPolicy(Qt::NoFocus); // Tab goes from the last field to Start
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(body);
    column->addWidget(scroll, 1);
    column->addWidget(horizontalLine(this));

    auto* foot = new QVBoxLayout;
    foot->setContentsMargins(16, 12, 16, 12);
    foot->setSpacing(8);
    error_ = wrappedLabel("error", {}, this);
    warning_ = wrappedLabel("note", {}, this);
    start_ = primaryButton(tr("Start run"), QStringLiteral("play"), this);
    start_->setObjectName(QStringLiteral("startRun"));
    command_ = new CodeBlock(this);
    foot->addWidget(error_);
    foot->addWidget(warning_);
    foot->addWidget(start_);
    foot->addWidget(label("section", tr("The same on the command line"), this));
    foot->addWidget(command_);
    column->addLayout(foot);
    connect(start_, &QPushButton::clicked, this, &NewRunPanel::start);

    setConfig({});
}

QComboBox* NewRunPanel::addChoice(QFormLayout* form, const QString& text, const QStringList& values,
                                  const char* name)
{
    auto* box = new QComboBox(this);
    box->addItems(values);
    box->setObjectName(QString::fromLatin1(name));
    box->setMinimumWidth(80);
    form->addRow(label("secondary", text, this), box);
    qobject_cast<QLabel*>(form->labelForField(box))->setBuddy(box);
    connect(box, &QComboBox::currentTextChanged, this, &NewRunPanel::refresh);
    return box;
}

QSpinBox* NewRunPanel::addNumber(QFormLayout* form, const QString& text, int from, int to, const char* name)
{
    auto* box = new QSpinBox(this);
    box->setRange(from, to);
    box->setObjectName(QString::fromLatin1(name));
    box->setMinimumWidth(80);
    form->addRow(label("secondary", text, this), box);
    qobject_cast<QLabel*>(form->labelForField(box))->setBuddy(box);
    connect(box, &QSpinBox::valueChanged, this, &NewRunPanel::refresh);
    return box;
}

QLineEdit* NewRunPanel::addText(QFormLayout* form, const QString& text, const QString& hint, const char* name)
{
    auto* edit = new QLineEdit(this);
    edit->setPlaceholderText(hint);
    edit->setObjectName(QString::fromLatin1(name));
    edit->setMinimumWidth(80);
    form->addRow(label("secondary", text, this), edit);
    qobject_cast<QLabel*>(form->labelForField(edit))->setBuddy(edit);
    connect(edit, &QLineEdit::textChanged, this, &NewRunPanel::refresh);
    connect(edit, &QLineEdit::returnPressed, this, &NewRunPanel::start);
    return edit;
}

void NewRunPanel::setConfig(const RunConfig& config)
{
    base_ = config;
    mode_->setCurrentText(qs(config.mode));
    if (workload_->findText(qs(config.workload)) < 0)
        workload_->addItem(qs(config.workload));
    workload_->setCurrentText(qs(config.workload));
    world_->setValue(config.mode == "single" ? config.alignWorld : config.world);
    batch_->setValue(int(config.batch));
    steps_->setValue(int(config.steps));
    accumulate_->setValue(config.accumulate);
    optimizer_->setCurrentText(qs(config.optimizer));
    lr_->setText(formatExact(config.lr));
    scheduler_->setCurrentText(qs(config.scheduler));
    clip_->setText(config.clipNorm > 0 ? formatExact(config.clipNorm) : QString());
    seed_->setValue(int(config.seed));
    record_->setCurrentText(qs(config.record));
    checkpointEvery_->setValue(int(config.checkpointEvery));
    QString faults;
    if (!config.faults.empty()) {
        faults = qs(config.faults.front().id);
        for (const auto& [key, value] : config.faults.front().parameters)
            faults += QStringLiteral(",%1=%2").arg(qs(key), qs(value));
    }
    fault_->setText(faults);
    name_->setText(qs(config.name));
    refresh();
}

void NewRunPanel::setOnLoss(const std::string& word)
{
    onLoss_->setCurrentIndex(word == "survivors" ? Survivors : word == "one" ? One : Stop);
}

QStringList NewRunPanel::furtherWords() const
{
    constexpr const char* kWords[] = {"stop", "survivors", "one"};
    return onLoss_->isEnabled() ? onLossWords(kWords[std::max(onLoss_->currentIndex(), 0)]) : QStringList();
}

RunConfig NewRunPanel::config() const
{
    RunConfig c = base_;
    c.mode = mode_->currentText().toStdString();
    c.workload = workload_->currentText().toStdString();
    const bool single = c.mode == "single";
    c.world = single ? 1 : world_->value();
    c.alignWorld = single ? world_->value() : 1;
    c.batch = batch_->value();
    c.steps = steps_->value();
    c.accumulate = accumulate_->value();
    c.optimizer = optimizer_->currentText().toStdString();
    c.lr = lr_->text().toDouble();
    c.scheduler = scheduler_->currentText().toStdString();
    c.clipNorm = clip_->text().trimmed().isEmpty() ? 0 : clip_->text().toDouble();
    c.seed = std::uint64_t(seed_->value());
    c.record = record_->currentText().toStdString();
    c.checkpointEvery = checkpointEvery_->value();
    c.name = name_->text().trimmed().toStdString();
    c.faults.clear();
    if (!fault_->text().trimmed().isEmpty())
        if (Result<FaultSpec> fault = parseFault(fault_->text().trimmed().toStdString()))
            c.faults.push_back(std::move(fault).value());
    return c;
}

void NewRunPanel::refresh()
{
    if (!name_ || !command_)
        return; // still being built
    const RunConfig c = config();
    const bool single = c.mode == "single";
    worldLabel_->setText(single ? tr("on the batches of") : tr("ranks"));
    world_->setSuffix(single ? tr(" ranks") : QString());

    QString sentence;
    const auto isNumber = [](const QLineEdit* edit, bool mayBeEmpty) {
        bool ok = false;
        edit->text().toDouble(&ok);
        return ok || (mayBeEmpty && edit->text().trimmed().isEmpty());
    };
    if (!isNumber(lr_, false))
        sentence = tr("The learning rate is not a number. Write for example 0.001.");
    else if (!isNumber(clip_, true))
        sentence = tr("The clip norm is not a number. Write for example 1.0, or leave it empty for off.");
    else if (Result<FaultSpec> fault = parseFault(fault_->text().trimmed().toStdString());
             !fault_->text().trimmed().isEmpty() && !fault)
        sentence = qs(fault.error().sentence());
    else if (const Status valid = validate(c); !valid)
        sentence = qs(valid.error().sentence());
    error_->setText(sentence);
    error_->setVisible(!sentence.isEmpty());
    start_->setEnabled(sentence.isEmpty());

    // One process has nothing to go on with.
    const bool several = c.mode == "ddp" && c.world > 1;
    onLoss_->setEnabled(several);
    QStringList notes;
    if (!furtherWords().isEmpty() && c.checkpointEvery == 0)
        notes << tr("Without checkpoints on the way there is nothing to go on from.");
    const int cores = QThread::idealThreadCount();
    const bool crowded = !single && c.mode != "twin" && c.world > cores;
    if (crowded)
        notes << tr("%1 ranks share %2 cores: the run is correct, but slower.").arg(c.world).arg(cores);
    warning_->setText(notes.join(QLatin1Char(' ')));
    warning_->setVisible(!notes.isEmpty());
    command_->setCode(QStringList{commands_.commandLine(c), furtherWords().join(QLatin1Char(' '))}
                          .join(QLatin1Char(' '))
                          .trimmed());
}

void NewRunPanel::start()
{
    if (start_->isEnabled())
        commands_.startRunWith(config(), furtherWords());
}

void NewRunPanel::focusFirst()
{
    mode_->setFocus();
}

} // namespace lockstep
