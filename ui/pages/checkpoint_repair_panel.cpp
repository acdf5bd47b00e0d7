#include "ui/pages/checkpoint_repair_panel.h"

#include "ui/models/format.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/theme.h"

#include <QCheckBox>
#include <QClipboard>
#include <QDir>
#include <QFileInfo>
#include <QGridLayout>
#include <QGuiApplication>
#include <QLineEdit>
#include <QPointer>
#include <QScrollArea>
#include <QStorageInfo>
#include <QStyle>
#include <QUndoStack>

#include <utility>

namespace lockstep {

namespace {

QString quoted(const QString& word)
{
    static const QString plain = QStringLiteral("-_./=,:");
    for (const QChar c : word)
        if (!c.isLetterOrNumber() && !plain.contains(c))
            return QLatin1Char('\'') + QString(word).replace(QLatin1Char('\''), QLatin1String("'\\''")) +
                   QLatin1Char('\'');
    return word.isEmpty() ? QStringLiteral("''") : word;
}

void setRole(QWidget* widget, const char* role)
{
    widget->setProperty("role", role);
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
}

} // namespace

// The copy as an undoable step: undo removes the new file, redo writes it again. It is pushed once the file is there.
class CheckpointRepairPanel::CopyStep : public QUndoCommand
{
public:
    CopyStep(CheckpointRepairPanel* panel, QStringList words, QString output)
        : QUndoCommand(CheckpointRepairPanel::tr("write %1").arg(QFileInfo(output).fileName())),
          panel_(panel),
          words_(std::move(words)),
          output_(std::move(output))
    {
    }

    void undo() override
    {
        QFile::remove(output_);
        if (panel_)
            Q_EMIT panel_->removed(output_);
    }
    void redo() override
    {
        if (!first_ && panel_)
            panel_->writer_->write(words_, output_);
        first_ = false;
    }

private:
    QPointer<CheckpointRepairPanel> panel_;
    QStringList words_;
    QString output_;
    bool first_ = true;
};

CheckpointRepairPanel::CheckpointRepairPanel(QUndoStack& undo, QWidget* parent)
    : QWidget(parent), undo_(undo), writer_(new RepairWriter(this))
{
    setObjectName(QStringLiteral("checkpointRepair"));
    setMinimumWidth(280);
    auto* scroll = new QScrollArea(this); // a low window cuts nothing
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* page = new QWidget(scroll);
    page->setObjectName(QStringLiteral("scrollBody"));
    scroll->setWidget(page);
    auto* whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->addWidget(scroll);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(14, 10, 14, 12);
    column->setSpacing(8);
    auto* head = new QHBoxLayout;
    state_ = label("note", {}, this);
    head->addWidget(label("paneTitle", tr("Repair preview"), this));
    head->addStretch(1);
    head->addWidget(state_);
    column->addLayout(head);
    column->addWidget(horizontalLine(this));
    strip_ = new QCheckBox(this);
    strip_->setObjectName(QStringLiteral("repairStrip"));
    sample_ = label("code", {}, this);
    sample_->setFont(theme::monoFont(11.5));
    sample_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    bfloat16_ = new QCheckBox(tr("Cast floats to bfloat16"), this);
    modelOnly_ = new QCheckBox(tr("Model only, drop optimizer state"), this);
    safetensors_ = new QCheckBox(tr("Write safetensors instead of zip"), this);
    column->addWidget(strip_);
    column->addWidget(sample_);
    for (QCheckBox* box : {bfloat16_, modelOnly_, safetensors_})
        column->addWidget(box);
    column->addWidget(horizontalLine(this));
    makeCounts(*column);
    column->addSpacing(4);
    column->addWidget(label("section", tr("Copy to"), this));
    name_ = new QLineEdit(this);
    name_->setAccessibleName(tr("Name of the copy"));
    column->addWidget(name_);
    write_ = primaryButton(tr("Write repaired copy"), {}, this);
    write_->setObjectName(QStringLiteral("writeRepaired"));
    copy_ = button(tr("Copy command"), {}, this);
    column->addWidget(write_); // below each other: translations are wider than the panel beside each other
    column->addWidget(copy_);
    hint_ = wrappedLabel("hint", {}, this);
    column->addWidget(hint_);
    column->addWidget(horizontalLine(this));
    column->addWidget(label("section", tr("Or load it as it is"), this));
    code_ = new CodeBlock(this);
    column->addWidget(code_);
    column->addStretch(1);

    for (QCheckBox* box : {strip_, bfloat16_, modelOnly_, safetensors_})
        connect(box, &QCheckBox::toggled, this, [this] {
            suggestName();
            preview();
        });
    connect(name_, &QLineEdit::textChanged, this, &CheckpointRepairPanel::preview);
    connect(write_, &QPushButton::clicked, this, &CheckpointRepairPanel::write);
    connect(copy_, &QPushButton::clicked, this, [this] {
        QStringList words{QStringLiteral("lockstep-cli")};
        for (const QString& word : repairWords(verdict_->tree->path, output(), choice()))
            words << quoted(word);
        QGuiApplication::clipboard()->setText(words.join(QLatin1Char(' ')));
    });
    connect(writer_, &RepairWriter::written, this, [this](const QString& path) {
        state_->setText(tr("written"));
        writtenPath_ = path;
        if (!pendingWords_.isEmpty())
            undo_.push(new CopyStep(this, std::exchange(pendingWords_, {}), path));
        preview();
        Q_EMIT written(path);
    });
    connect(writer_, &RepairWriter::failed, this, [this](const QString& sentence) {
        pendingWords_.clear();
        state_->setText(tr("nothing written"));
        preview();
        Q_EMIT failed(sentence);
    });
    connect(&undo_, &QUndoStack::indexChanged, this, &CheckpointRepairPanel::preview); // the copy may be gone
    setVerdict(nullptr);
}

void CheckpointRepairPanel::makeCounts(QVBoxLayout& column)
{
    auto* grid = new QGridLayout;
    grid->setColumnStretch(0, 1);
    grid->setHorizontalSpacing(16);
    grid->setVerticalSpacing(5);
    grid->addWidget(label("note", tr("before"), this), 0, 1, Qt::AlignRight);
    grid->addWidget(label("note", tr("after"), this), 0, 2, Qt::AlignRight);
    const QString names[3] = {tr("names without wrapper"), tr("names changed"), tr("tensors")};
    for (int row = 0; row < 3; ++row) {
        grid->addWidget(label("", names[row], this), row + 1, 0);
        for (int side = 0; side < 2; ++side) {
            counts_[row][side] = label("secondary", {}, this);
            grid->addWidget(counts_[row][side], row + 1, side + 1, Qt::AlignRight);
        }
    }
    column.addLayout(grid);
}

RepairChoice CheckpointRepairPanel::choice() const
{
    RepairChoice choice;
    if (strip_->isChecked() && verdict_ && !verdict_->prefix.isEmpty())
        choice.strip << verdict_->prefix;
    choice.bfloat16 = bfloat16_->isChecked();
    choice.modelOnly = modelOnly_->isChecked();
    choice.safetensors = safetensors_->isChecked();
    return choice;
}

QString CheckpointRepairPanel::output() const
{
    return QDir(QFileInfo(verdict_->tree->path).absolutePath()).absoluteFilePath(name_->text().trimmed());
}

void CheckpointRepairPanel::setVerdict(const CheckpointVerdictPtr& verdict)
{
    const bool same = verdict && verdict_ && verdict->tree == verdict_->tree;
    verdict_ = verdict;
    const bool usable = verdict && verdict->tree->checkpoint && verdict->tree->tensors > 0;
    setEnabled(usable);
    if (same)
        return; // the second verdict, with checksums: choices stay
    {
        const QSignalBlocker quiet(strip_);
        strip_->setChecked(usable && !verdict->prefix.isEmpty());
    }
    const bool prefixed = usable && !verdict->prefix.isEmpty();
    strip_->setText(
        prefixed ? tr("Strip prefix \"%1\" from %n key(s)", nullptr, int(verdict->keys)).arg(verdict->prefix)
                 : tr("Strip prefix: no wrapper found"));
    strip_->setEnabled(prefixed);
    const QString part = usable && !verdict->modelPath.isEmpty()
                             ? QStringLiteral("[\"%1\"]").arg(verdict->modelPath)
                             : QString();
    code_->setCode(QStringLiteral("sd = torch.load(p, weights_only=True)%1").arg(part) +
                   (prefixed
                        ? QStringLiteral("\nsd = {k.removeprefix(\"%1\"): v\n      for k, v in sd.items()}")
                              .arg(verdict->prefix)
                        : QString()));
    state_->setText(usable ? tr("nothing written yet") : QString());
    writtenPath_.clear();
    clearPreview(); // until the preview of this file is there
    suggested_.clear();
    name_->clear();
    suggestName();
    preview();
}

// step_02000.fixed.pt beside the original, unless a name was typed.
void CheckpointRepairPanel::suggestName()
{
    if (!verdict_ || (!suggested_.isEmpty() && name_->text() != suggested_))
        return;
    const QFileInfo info(verdict_->tree->path);
    const QString suffix =
        safetensors_->isChecked() ? QStringLiteral("safetensors")
        : info.isDir() || info.suffix().isEmpty() || info.suffix() == QLatin1String("safetensors")
            ? QStringLiteral("pt")
            : info.suffix();
    const QString base = info.isDir() ? info.fileName() : info.completeBaseName();
    suggested_ = QStringLiteral("%1.fixed.%2").arg(base, suffix);
    const QSignalBlocker quiet(name_);
    name_->setText(suggested_);
}

// Numbers of one file never stand beside another.
void CheckpointRepairPanel::clearPreview()
{
    sample_->hide();
    for (auto& row : counts_)
        for (QLabel* count : row)
            count->setText(QStringLiteral("-"));
    setRole(counts_[0][0], "secondary");
    hint_->clear();
    write_->setEnabled(false);
}

void CheckpointRepairPanel::preview()
{
    if (!verdict_ || !isEnabled()) {
        jobs_.cancel();
        clearPreview();
        return;
    }
    jobs_.start(
        [tree = verdict_->tree, wanted = choice()](const JobToken&) { return previewRepair(tree, wanted); },
        [this](const RepairPreviewPtr& preview) { showPreview(preview); });
}

void CheckpointRepairPanel::showPreview(const RepairPreviewPtr& preview)
{
    const RepairPreview& p = *preview;
    QStringList lines;
    for (const auto& [from, to] : p.renamed)
        lines << (!from.endsWith(to)
                      ? QStringLiteral("%1 &rarr; %2").arg(from.toHtmlEscaped(), to.toHtmlEscaped())
                      : QStringLiteral("<s>%1</s>%2")
                            .arg(from.left(from.size() - to.size()).toHtmlEscaped(), to.toHtmlEscaped()));
    if (p.renamedCount > std::int64_t(p.renamed.size()))
        lines << tr("%1 more, all the same change")
                     .arg(formatCount(p.renamedCount - std::int64_t(p.renamed.size())));
    sample_->setTextFormat(Qt::RichText);
    sample_->setText(lines.join(QStringLiteral("<br>")));
    sample_->setVisible(!lines.isEmpty());
    const QString of = tr("%1 of %2");
    const QString keys = formatCount(p.keys);
    counts_[0][0]->setText(of.arg(formatCount(p.fitBefore), keys));
    counts_[0][1]->setText(of.arg(formatCount(p.fitAfter), keys));
    setRole(counts_[0][0], p.fitBefore < p.keys ? "error" : "secondary");
    counts_[1][0]->setText(QStringLiteral("-"));
    counts_[1][1]->setText(formatCount(p.renamedCount));
    counts_[2][0]->setText(formatCount(verdict_->tree->tensors));
    counts_[2][1]->setText(formatCount(p.tensors));
    const QString where = output();
    const bool taken = QFileInfo::exists(where);
    const std::int64_t free = QStorageInfo(QFileInfo(where).absolutePath()).bytesAvailable();
    write_->setEnabled(p.error.isEmpty() && !taken && !name_->text().trimmed().isEmpty() && !writer_->busy());
    QString hint = p.error;
    if (hint.isEmpty() && taken && where == writtenPath_)
        hint = tr("%1 is written. The original stays as it is; Ctrl+Z removes the copy again.")
                   .arg(name_->text());
    if (hint.isEmpty() && taken)
        hint = tr("%1 is there already. Choose another name; nothing is overwritten.").arg(name_->text());
    if (hint.isEmpty())
        hint = tr("The original stays as it is. Ctrl+Z removes the copy again. Needs about %1, %2 free.")
                   .arg(formatBytes(verdict_->tree->bytes), formatBytes(free));
    if (p.error.isEmpty() && !p.notes.isEmpty())
        hint += QLatin1Char('\n') + p.notes.mid(0, 3).join(QLatin1Char(' '));
    hint_->setText(hint);
}

void CheckpointRepairPanel::write()
{
    const QStringList words = repairWords(verdict_->tree->path, output(), choice());
    const QString path = output();
    write_->setEnabled(false);
    state_->setText(tr("writing"));
    pendingWords_ = words;
    writer_->write(words, path);
}

void CheckpointRepairPanel::salvage(const QString& path)
{
    if (writer_->busy())
        return;
    const QFileInfo info(path);
    const QString base = info.isDir() ? info.fileName() : info.completeBaseName();
    const QString output = QDir(info.absolutePath()).absoluteFilePath(base + QStringLiteral(".salvaged.pt"));
    state_->setText(tr("writing"));
    pendingWords_ = salvageWords(path, output);
    writer_->write(pendingWords_, output);
}

} // namespace lockstep
