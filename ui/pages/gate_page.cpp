#include "ui/pages/gate_page.h"

#include "ui/models/check_titles.h"
#include "ui/models/checks_model.h"
#include "ui/models/deciding_check.h"
#include "ui/models/evidence_rows.h"
#include "ui/models/format.h"
#include "ui/models/gates_model.h"
#include "ui/models/project_model.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/low_window_area.h"

#include <QLineEdit>
#include <QProgressBar>
#include <QScrollArea>
#include <QStackedWidget>

#include <algorithm>

namespace lockstep {

namespace {

constexpr int kEvidenceRows = 20;
constexpr int kLimitWidth = 120; // of a limit, at least
constexpr int kClosedWidth = 560;

} // namespace

GatePage::GatePage(const PageContext& context, const QString& phase, QWidget* parent)
    : Page(context, {}, parent),
      phase_(phase),
      checks_(new ChecksModel(this)),
      chip_(new Chip(this)),
      run_(primaryButton(tr("Run checks"), QStringLiteral("play"), this)),
      override_(button(tr("Override with reason"), {}, this)),
      progress_(new QProgressBar(this)),
      cancel_(button(tr("Cancel"), {}, this)),
      banner_(new Banner(this)),
      earlier_(new Banner(this)),
      stack_(new QStackedWidget(this))
{
    run_->setObjectName(QStringLiteral("runGate"));
    override_->setObjectName(QStringLiteral("overrideGate"));
    headStart()->addWidget(chip_);
    progress_->setRange(0, 0);
    progress_->setTextVisible(false);
    progress_->setFixedWidth(120);
    headActions()->addWidget(progress_);
    headActions()->addWidget(cancel_);
    headActions()->addWidget(override_);
    headActions()->addWidget(run_);
    build();
    connect(run_, &QPushButton::clicked, this, [this] {
        banner_->clear();
        this->context().commands.judgeGate(phase_);
    });
    connect(cancel_, &QPushButton::clicked, &context.commands, &RunCommands::cancelPending);
    connect(override_, &QPushButton::clicked, this, [this] {
        if (status().state == State::Overridden) {
            this->context().commands.overrideGate(phase_, {});
            return;
        }
        overrideBar_->show();
        reason_->setFocus();
    });
    connect(&context.commands, &RunCommands::failed, this,
            [this](const QString& command, const QString& sentence) {
                if (command == QLatin1String("gate") && isVisible())
                    banner_->showMessage(State::Failed, sentence);
            });
    connect(&context.gates, &QAbstractItemModel::dataChanged, this, &GatePage::refresh);
    refresh();
}

void GatePage::build()
{
    // Closed: padlock and the sentence that says what opens it.
    auto* closed = new QWidget(this);
    auto* closedColumn = new QVBoxLayout(closed);
    closedColumn->setContentsMargins(20, 0, 20, 80);
    auto* lock = new QLabel(closed);
    lock->setPixmap(icon(QStringLiteral("closed"), Tone::Hint).pixmap(40, 40));
    closedTitle_ = label("finding", {}, closed);
    closedText_ = label("secondary", {}, closed);
    closedChecks_ = wrappedLabel("note", {}, closed);
    closedChecks_->setAlignment(Qt::AlignHCenter);
    closedChecks_->setFixedWidth(kClosedWidth);
    closedColumn->addStretch(2);
    closedColumn->addWidget(lock, 0, Qt::AlignHCenter);
    closedColumn->addSpacing(8);
    closedColumn->addWidget(closedTitle_, 0, Qt::AlignHCenter);
    closedColumn->addWidget(closedText_, 0, Qt::AlignHCenter);
    closedColumn->addSpacing(16);
    closedColumn->addWidget(closedChecks_, 0, Qt::AlignHCenter);
    closedColumn->addStretch(3);
    stack_->addWidget(closed);

    auto* area = new LowWindowArea(QBoxLayout::LeftToRight, this);
    QWidget* const open = area->widget();
    whole_ = area->content();
    whole_->setSpacing(16);
    auto* column = column_ = new QVBoxLayout;
    whole_->addLayout(column, 1);
    column->setSpacing(12);
    overrideBar_ = new QFrame(open);
    overrideBar_->setObjectName(QStringLiteral("banner"));
    overrideBar_->setProperty("tone", "amber");
    auto* bar = new QHBoxLayout(overrideBar_);
    bar->setContentsMargins(12, 8, 12, 8);
    reason_ = new QLineEdit(overrideBar_);
    reason_->setPlaceholderText(
        tr("Why may the migration go on although the gate does not pass? Stays visible in the report."));
    applyOverride_ = button(tr("Override"), QStringLiteral("overridden"), overrideBar_);
    applyOverride_->setEnabled(false);
    auto* cancel = button(tr("Cancel"), {}, overrideBar_);
    bar->addWidget(reason_, 1);
    bar->addWidget(applyOverride_);
    bar->addWidget(cancel);
    overrideBar_->hide();
    column->addWidget(banner_);
    column->addWidget(overrideBar_);

    auto* row = new QHBoxLayout;
    row->setSpacing(16);
    checksPane_ = new Pane(tr("Checks"), open);
    count_ = label("note", {}, checksPane_);
    checksPane_->head()->addWidget(count_);
    emptyText_ = wrappedLabel("secondary", {}, checksPane_);
    emptyText_->setContentsMargins(12, 12, 12, 12);
    emptyText_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    table_ = new DataTable(checksPane_, 29);
    table_->setObjectName(QStringLiteral("checks"));
    table_->setAccessibleName(tr("Checks"));
    table_->setModel(checks_);
    table_->setColumnPlan(ChecksModel::Limit, {ChecksModel::Where}); // a long limit is cut, numbers never
    judgedOn_ = wrappedLabel("note", {}, checksPane_);
    judgedOn_->setContentsMargins(12, 6, 12, 2);
    judgedOn_->hide();
    checksPane_->addWidget(judgedOn_);
    checksPane_->addWidget(emptyText_);
    table_->setLongTexts({ChecksModel::Check, ChecksModel::Number}, kLimitWidth);
    checksPane_->addWidget(table_, 1);
    checksPane_->body()->addStretch(0);
    row->addWidget(checksPane_, 1);

    detail_ = new Pane(tr("Check"), open);
    detail_->setFixedWidth(340);
    auto* scroll = new QScrollArea(detail_); // a low window cuts nothing
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* page = new QWidget(scroll);
    page->setObjectName(QStringLiteral("scrollBody"));
    auto* words = detailColumn_ = new QVBoxLayout(page);
    words->setContentsMargins(12, 12, 12, 12);
    words->setSpacing(8);
    detailSentence_ = wrappedLabel("body", {}, page);
    detailWhere_ = wrappedLabel("note", {}, page);
    evidence_ = wrappedLabel("note", {}, page);
    evidence_->setTextFormat(Qt::RichText);
    evidence_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    fixTitle_ = label("section", tr("Fix"), page);
    fix_ = new CodeBlock(page);
    words->addWidget(detailSentence_);
    words->addWidget(detailWhere_);
    words->addWidget(evidence_);
    words->addWidget(fixTitle_);
    words->addWidget(fix_);
    words->addStretch(1);
    scroll->setWidget(page);
    detail_->addWidget(scroll, 1);
    row->addWidget(detail_);
    column->addLayout(row, 1);
    stack_->addWidget(area);
    above_ = new QWidget(this); // takes no room without a banner
    auto* inset = new QHBoxLayout(above_);
    inset->setContentsMargins(20, 16, 16, 0);
    inset->addWidget(earlier_);
    above_->hide();
    earlier_->setObjectName(QStringLiteral("overriddenBefore"));
    connect(earlier_, &Banner::dismissed, this, [this] {
        read_ = overridesBefore(*this->context().project.snapshot(), phase_);
        above_->hide();
    });
    body()->addWidget(above_);
    body()->addWidget(stack_, 1);

    connect(reason_, &QLineEdit::textChanged, this,
            [this](const QString& text) { applyOverride_->setEnabled(text.trimmed().size() >= 3); });
    const auto apply = [this] {
        if (!applyOverride_->isEnabled())
            return;
        context().commands.overrideGate(phase_, reason_->text().trimmed());
        overrideBar_->hide();
    };
    connect(applyOverride_, &QPushButton::clicked, this, apply);
    connect(reason_, &QLineEdit::returnPressed, this, apply);
    connect(cancel, &QPushButton::clicked, this, [this] { escape(); });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) { showCheck(current.row()); });
}

const PhaseStatus& GatePage::status() const
{
    for (int row = 0; row < context().gates.rowCount(); ++row)
        if (QLatin1String(context().gates.status(row).phase->id) == phase_)
            return context().gates.status(row);
    return context().gates.status(0);
}

void GatePage::refresh()
{
    const PhaseStatus& now = status();
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    const GateInfo* gate = snapshot->gate(phase_.toStdString());
    const bool judged = gate && !gate->checks.empty();
    setTitle(phaseTitle(*now.phase));
    setSubtitle(phaseChanges(*now.phase, *snapshot));
    chip_->setState(now.state, judged ? now.word + QStringLiteral(", ") + now.detail : now.word);
    const bool writable = context().project.isOpen() && !snapshot->readOnly;
    run_->setText(judged ? tr("Run checks again") : tr("Run checks"));
    run_->setVisible(now.open);
    run_->setEnabled(writable && now.state != State::Running);
    const bool ended = now.state != State::Running && cancel_->hasFocus();
    progress_->setVisible(now.state == State::Running);
    cancel_->setVisible(now.state == State::Running);
    if (ended)
        run_->setFocus(); // where the keyboard was before
    override_->setText(now.state == State::Overridden ? tr("Take override back")
                                                      : tr("Override with reason"));
    override_->setVisible(now.open && judged && now.state != State::Passed);
    override_->setEnabled(writable);

    // Whoever works here should know what it rests on.
    const QStringList earlier = overridesBefore(*snapshot, phase_);
    const bool news = !earlier.isEmpty() && earlier != read_;
    above_->setVisible(news && now.open);
    if (!news)
        earlier_->clear();
    else
        earlier_->showMessage(State::Overridden,
                              tr("%n gate(s) before were overridden", nullptr, int(earlier.size())),
                              earlier.join(QStringLiteral("; ")));

    closedTitle_->setText(context().project.isOpen() ? tr("This phase is closed") : tr("No project is open"));
    QString opens = context().project.isOpen() ? now.deciding : phaseTeaches(*now.phase);
    if (!opens.isEmpty())
        opens[0] = opens[0].toUpper();
    closedText_->setText(opens);
    stack_->setCurrentIndex(now.open ? 1 : 0);

    const std::vector<GateCheck> planned = judged ? std::vector<GateCheck>() : plannedRows(*snapshot);
    checks_->setChecks(judged ? gate->checks : planned);
    QStringList titles;
    for (const GateCheck& check : planned)
        titles << checkTitle(check.id);
    closedChecks_->setText(
        titles.isEmpty() ? QString() : tr("It will judge: %1.").arg(titles.join(QStringLiteral(", "))));
    closedChecks_->setMinimumHeight(
        std::max(0, closedChecks_->heightForWidth(kClosedWidth))); // -1 without a text
    count_->setText(judged ? tr("%1 hold").arg(now.checks) : QString());
    judgedOn_->setText(now.judgedOn + QLatin1Char('.'));
    judgedOn_->setVisible(judged && !now.judgedOn.isEmpty());
    emptyText_->setText(tr("Not judged yet. The checks run in their own process and report here; closing the "
                           "window stops nothing."));
    emptyText_->setVisible(!judged);
    table_->setVisible(judged || !planned.empty());
    detail_->setVisible(judged);
    if (now.state == State::Overridden)
        banner_->showMessage(State::Overridden, tr("Overridden: %1").arg(qs(gate->overrideReason)),
                             tr("%1. The override stays visible in the report.").arg(now.detail));
    if (judged && !table_->currentIndex().isValid()) {
        table_->setCurrentIndex(checks_->index(int(decidingCheck(*gate)), 0));
    } else if (judged) {
        showCheck(table_->currentIndex().row());
    }
    gateShown(judged ? gate : nullptr);
}

// What will be judged. Of a script two gates judge nothing that could be told before.
std::vector<GateCheck> GatePage::plannedRows(const ProjectSnapshot& snapshot) const
{
    std::vector<GateCheck> rows;
    if (!context().project.isOpen() || !judgesItself(phase_, snapshot))
        return rows;
    for (std::string& id : plannedChecks(phase_)) {
        GateCheck& row = rows.emplace_back();
        row.id = std::move(id);
    }
    return rows;
}

void GatePage::showCheck(int row)
{
    if (row < 0 || row >= checks_->rowCount())
        return;
    const GateCheck& check = checks_->check(row);
    const QString title = checkTitle(check.id);
    const QString verdict = checks_->index(row, ChecksModel::Verdict).data().toString();
    detail_->setTitle(title.isEmpty() ? verdict : tr("%1: %2").arg(verdict, title));
    detailSentence_->setText(qs(check.sentence.empty() ? check.id : check.sentence));
    QStringList where{check.limit.empty() ? qs(check.value)
                                          : tr("%1, limit %2").arg(qs(check.value), qs(check.limit))};
    const QString place = checks_->index(row, ChecksModel::Where).data().toString();
    if (!place.isEmpty())
        where << place;
    detailWhere_->setText(where.join(QStringLiteral("; ")));
    const std::vector<EvidenceText> rows = evidenceRows(check.evidenceJson);
    evidence_->setText(evidenceHtml(rows, kEvidenceRows));
    evidence_->setVisible(!rows.empty());
    fixTitle_->setVisible(!check.fix.empty());
    fix_->setVisible(!check.fix.empty());
    fix_->setCode(qs(check.fix));
    checkShown(check);
}

void GatePage::addSide(QWidget* side)
{
    whole_->addWidget(side);
}

void GatePage::selectCheck(const QString& id)
{
    if (!id.isEmpty())
        table_->selectId(id);
}

void GatePage::open(const QString&)
{
    if (table_->isVisible())
        table_->setFocus();
    else
        setFocus();
}

bool GatePage::escape()
{
    if (!overrideBar_->isVisible())
        return false;
    overrideBar_->hide();
    return true;
}

} // namespace lockstep
