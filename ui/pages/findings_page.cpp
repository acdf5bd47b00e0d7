#include "ui/pages/findings_page.h"

#include "ui/models/comparison_model.h"
#include "ui/models/diagnosis_outcome.h"
#include "ui/models/findings_model.h"
#include "ui/models/format.h"
#include "ui/models/project_model.h"
#include "ui/pages/causal_chain.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/causal_strip.h"
#include "ui/widgets/data_table.h"

#include <QProgressBar>
#include <QScrollArea>

#include <utility>

namespace lockstep {

namespace {

constexpr int kDetailWidth = 380;
constexpr int kRowsShown = 24;

QString pairOf(const FindingRow& finding)
{
    return qs(finding.runA) + QLatin1Char('|') + qs(finding.runB);
}

} // namespace

FindingsPage::FindingsPage(const PageContext& context, QWidget* parent)
    : Page(context, tr("Findings"), parent),
      findings_(new FindingsModel(this)),
      strip_(new CausalStrip(this)),
      table_(new DataTable(this, 29)),
      banner_(new Banner(this)),
      progress_(new QProgressBar(this)),
      cancel_(button(tr("Cancel"), {}, this)),
      diagnose_(primaryButton(tr("Diagnose A and B"), QStringLiteral("findings"), this)),
      prove_(button(tr("Prove by replay"), QStringLiteral("shield"), this))
{
    diagnose_->setObjectName(QStringLiteral("diagnose"));
    prove_->setObjectName(QStringLiteral("prove"));
    progress_->setRange(0, 0);
    progress_->setTextVisible(false);
    progress_->setFixedWidth(120);
    progress_->hide();
    cancel_->hide();
    headActions()->addWidget(progress_);
    headActions()->addWidget(cancel_);
    headActions()->addWidget(prove_);
    headActions()->addWidget(diagnose_);
    body()->addWidget(strip_);
    body()->addWidget(horizontalLine(this));
    auto* column = new QVBoxLayout;
    column->setContentsMargins(20, 16, 16, 16);
    column->setSpacing(12);
    column->addWidget(banner_);
    auto* row = new QHBoxLayout;
    row->setSpacing(16);
    auto* pane = new Pane(tr("Findings, most certain first"), this);
    table_->setObjectName(QStringLiteral("findingsTable"));
    table_->setAccessibleName(tr("Findings"));
    table_->setModel(findings_);
    table_->setColumnPlan(FindingsModel::Sentence,
                          {FindingsModel::Runs, FindingsModel::Rank, FindingsModel::Step});
    table_->setEmptyText(tr("No finding yet. Mark two runs with A and B in Runs, then diagnose them:\n"
                            "what was recorded is searched for the first broken link and its cause."));
    pane->addWidget(table_, 1);
    row->addWidget(pane, 1);
    row->addWidget(makeDetail());
    column->addLayout(row, 1);
    body()->addLayout(column, 1);
    connect(diagnose_, &QPushButton::clicked, this, [this] { diagnose(false); });
    connect(prove_, &QPushButton::clicked, this, [this] { diagnose(true); });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) { showFinding(current.row()); });
    connect(table_, &DataTable::activatedId, this, &FindingsPage::openCurves);
    connect(strip_, &CausalStrip::stepChosen, this, &FindingsPage::openCurvesAt);
    connect(&context.comparisons, &ComparisonModel::verdictsChanged, this, [this] {
        showStrip();
        tellOutcome();
    });
    connect(&context.project, &ProjectModel::changed, this, [this] {
        refresh();
        tellOutcome();
    });
    connect(&context.selection, &RunSelection::runsChanged, this, &FindingsPage::refresh);
    connect(cancel_, &QPushButton::clicked, &context.commands, &RunCommands::cancelPending);
    connect(&context.commands, &RunCommands::diagnosed, this, [this] {
        setWorking(false);
        toldApart_ = separated_.has_value();
        ended_ = std::exchange(asked_, {});
        refresh();
    });
    connect(&context.commands, &RunCommands::failed, this,
            [this](const QString& command, const QString& sentence) {
                if (command == QLatin1String("run") && std::exchange(applying_, false))
                    banner_->showMessage(State::Failed, tr("The run could not be started"), sentence);
                if (command != QLatin1String("diagnose"))
                    return;
                setWorking(false);
                asked_ = {};
                separated_.reset();
                separate_->setEnabled(true);
                banner_->showMessage(State::Failed, tr("The diagnosis could not be made"), sentence);
            });
    connect(&context.commands, &RunCommands::runStarted, this, [this](const QString& run) {
        if (!std::exchange(applying_, false))
            return;
        RunSelection& selection = this->context().selection;
        applied_ = run;
        selection.setRuns(selection.runA(), run);
        banner_->showMessage(State::Running, tr("%1 trains with %2").arg(run, offered_.change),
                             tr("It is B now. Diagnose A and B once it has finished."));
    });
    refresh();
}

QWidget* FindingsPage::makeDetail()
{
    auto* pane = new Pane(tr("Finding"), this);
    pane->setFixedWidth(kDetailWidth);
    confidence_ = new Chip(pane);
    pane->head()->addWidget(confidence_);
    auto* scroll = new QScrollArea(pane);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* page = new QWidget(scroll);
    page->setObjectName(QStringLiteral("scrollBody"));
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(12, 12, 12, 12);
    column->setSpacing(8);
    sentence_ = wrappedLabel("finding", {}, page);
    where_ = wrappedLabel("note", {}, page);
    speaksTitle_ = label("section", tr("Speaks for it"), page);
    speaks_ = wrappedLabel("note", {}, page);
    rulesOutTitle_ = label("section", tr("Rules out"), page);
    rulesOut_ = wrappedLabel("note", {}, page);
    fixTitle_ = label("section", tr("Fix"), page);
    fix_ = new CodeBlock(page);
    curves_ = button(tr("Open in Curves"), QStringLiteral("curves"), page);
    offer_ = wrappedLabel("note", {}, page);
    separate_ = button({}, QStringLiteral("play"), page);
    separate_->setObjectName(QStringLiteral("separate"));
    apply_ = button({}, QStringLiteral("play"), page);
    apply_->setObjectName(QStringLiteral("applySetting"));
    for (QLabel* text : {speaks_, rulesOut_}) {
        text->setTextFormat(Qt::RichText);
        text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::LinksAccessibleByMouse |
                                      Qt::LinksAccessibleByKeyboard);
        connect(text, &QLabel::linkActivated, this, [this, text](const QString& row) {
            const std::vector<EvidenceText>& rows = text == speaks_ ? speaksRows_ : excludesRows_;
            if (const std::size_t at = row.toUInt(); at < rows.size())
                openEvidence(rows[at]);
        });
    }
    speaks_->setObjectName(QStringLiteral("evidence"));
    for (QWidget* one : std::initializer_list<QWidget*>{sentence_, where_, speaksTitle_, speaks_,
                                                        rulesOutTitle_, rulesOut_, fixTitle_, fix_})
        column->addWidget(one);
    column->addWidget(offer_);
    for (QPushButton* one : {separate_, apply_, curves_})
        column->addWidget(one, 0, Qt::AlignLeft);
    column->addStretch(1);
    scroll->setWidget(page);
    pane->addWidget(scroll, 1);
    connect(curves_, &QPushButton::clicked, this, &FindingsPage::openCurves);
    connect(separate_, &QPushButton::clicked, this, &FindingsPage::separate);
    connect(apply_, &QPushButton::clicked, this, &FindingsPage::applySetting);
    return detail_ = pane;
}

void FindingsPage::refresh()
{
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    findings_->setSnapshot(*snapshot);
    const RunSelection& selection = context().selection;
    const bool pair = !selection.runA().isEmpty() && !selection.runB().isEmpty();
    const bool possible =
        (pair || findings_->rowCount() > 0) && context().project.isOpen() && !snapshot->readOnly;
    diagnose_->setEnabled(possible);
    const auto [a, b] = pairToDiagnose();
    const QString unprovable = whyNotProvable(snapshot->run(a), snapshot->run(b));
    prove_->setEnabled(possible && unprovable.isEmpty());
    prove_->setToolTip(
        unprovable.isEmpty()
            ? tr("Replays each suspected cause in a twin, five at most; equal in every bit is proof")
            : unprovable);
    setSubtitle(pair ? tr("A %1 against B %2").arg(selection.runA(), selection.runB())
                     : tr("%n finding(s)", nullptr, findings_->rowCount()));
    detail_->setVisible(findings_->rowCount() > 0);
    if (findings_->rowCount() == 0)
        strip_->setSentence(State::None, tr("The causal chain of a finding's runs stands here."));
    if (findings_->rowCount() > 0 && !table_->currentIndex().isValid())
        table_->setCurrentIndex(
            findings_->index(rowOfPair(shownPair_), 0)); // the pair stays after a new diagnosis of it
    else
        showFinding(table_->currentIndex().row());
    if (toldApart_)
        tellWhatRemains();
    if (const RunEntry* run = snapshot->run(applied_); run && !run->running()) {
        applied_.clear();
        banner_->showMessage(State::None, tr("%1 has ended").arg(run->name()),
                             tr("Diagnose A and B says whether the finding is gone."));
    }
}

int FindingsPage::rowOfPair(const QString& pair) const
{
    for (int row = 0; row < findings_->rowCount(); ++row)
        if (pairOf(findings_->finding(row)) == pair)
            return row;
    return 0;
}

void FindingsPage::showFinding(int row)
{
    shown_ = row >= 0 && row < findings_->rowCount() ? row : -1;
    if (shown_ < 0)
        return;
    const FindingRow& finding = findings_->finding(row);
    shownPair_ = pairOf(finding);
    const QString newer = findings_->newer(row);
    confidence_->setState(!newer.isEmpty()                 ? State::Off
                          : finding.confidence == "benign" ? State::Holds
                                                           : State::Diverged,
                          confidenceWord(finding.confidence));
    sentence_->setText(qs(finding.sentence));
    // Several are the same bits: one of them it is.
    QStringList where{tr("cause %1").arg(qs(finding.cause).replace(QLatin1String(", "), tr(" or ")))};
    if (finding.step >= 0)
        where << tr("step %1").arg(finding.step);
    where << (finding.rank >= 0 ? tr("rank %1").arg(finding.rank) : tr("all ranks"));
    where << tr("%1 against %2").arg(qs(finding.runB), qs(finding.runA));
    if (!newer.isEmpty())
        where << newer;
    where_->setText(where.join(QStringLiteral(", ")));
    speaksRows_.clear();
    excludesRows_.clear();
    for (EvidenceText& one : evidenceRows(finding.evidenceJson))
        (one.excludes ? excludesRows_ : speaksRows_).push_back(std::move(one));
    speaks_->setText(evidenceLinks(speaksRows_, kRowsShown));
    rulesOut_->setText(evidenceLinks(excludesRows_, kRowsShown));
    speaksTitle_->setVisible(!speaksRows_.empty());
    speaks_->setVisible(!speaksRows_.empty());
    rulesOutTitle_->setVisible(!excludesRows_.empty());
    rulesOut_->setVisible(!excludesRows_.empty());
    fixTitle_->setVisible(!finding.fix.empty());
    fix_->setVisible(!finding.fix.empty());
    fix_->setCode(qs(finding.fix));
    showOffer(finding);
    showStrip();
}

// Of the finding's own pair, whatever A and B are.
void FindingsPage::showStrip()
{
    if (shown_ < 0 || !isVisible())
        return;
    const FindingRow& finding = findings_->finding(shown_);
    const QString a = qs(finding.runA), b = qs(finding.runB);
    const RunComparisonPtr known = context().comparisons.result(a, b);
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    if (!snapshot->run(a) || !snapshot->run(b)) {
        strip_->setSentence(State::None, tr("A run of this finding is gone."));
        return;
    }
    if (!known)
        context().comparisons.want(a, b);
    showChain(*strip_, known, a, b);
}

void FindingsPage::showOffer(const FindingRow& finding)
{
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    offered_ = snapshot->readOnly ? FindingOffer() : findingOffer(finding, *snapshot);
    offer_->setText(offered_.separates);
    offer_->setVisible(!offered_.separates.isEmpty());
    separate_->setText(offered_.separateButton);
    separate_->setVisible(!offered_.separateButton.isEmpty());
    separate_->setEnabled(!separated_);
    apply_->setText(tr("Run again with %1").arg(offered_.change));
    apply_->setVisible(offered_.mended.has_value());
}

void FindingsPage::separate()
{
    if (shown_ < 0)
        return;
    separated_ = findings_->finding(shown_);
    toldApart_ = false;
    separate_->setEnabled(false);
    banner_->clear();
    setWorking(true);
    context().commands.separate(qs(separated_->runA), qs(separated_->runB));
}

// The finding of the pair says it, once the project has it.
void FindingsPage::tellWhatRemains()
{
    const int row = rowOfPair(pairOf(*separated_));
    if (row >= findings_->rowCount() || pairOf(findings_->finding(row)) != pairOf(*separated_))
        return;
    const FindingRow& now = findings_->finding(row);
    if (now.cause == separated_->cause && now.evidenceJson == separated_->evidenceJson)
        return; // not read yet
    const QString before = qs(separated_->cause);
    toldApart_ = false;
    separated_.reset();
    separate_->setEnabled(true);
    if (qs(now.cause) == before)
        banner_->showMessage(State::CannotCompare, tr("None of %1 explains the separating run").arg(before),
                             tr("What that run shows is a finding of its own."));
    else
        banner_->showMessage(State::Holds, tr("%1 remains of %2").arg(qs(now.cause), before),
                             qs(now.sentence));
}

// The run of the finding once more, with the one setting that undoes it.
void FindingsPage::applySetting()
{
    if (shown_ < 0 || !offered_.mended)
        return;
    const FindingRow& finding = findings_->finding(shown_);
    banner_->clear();
    context().selection.setRuns(qs(finding.runA), qs(finding.runB));
    applying_ = true;
    context().commands.startRun(*offered_.mended);
}

void FindingsPage::setWorking(bool on)
{
    progress_->setVisible(on);
    cancel_->setVisible(on);
}

// The chosen pair; where none is chosen, that of the finding.
std::pair<QString, QString> FindingsPage::pairToDiagnose() const
{
    const RunSelection& selection = context().selection;
    if ((selection.runA().isEmpty() || selection.runB().isEmpty()) && shown_ >= 0)
        return {qs(findings_->finding(shown_).runA), qs(findings_->finding(shown_).runB)};
    return {selection.runA(), selection.runB()};
}

void FindingsPage::diagnose(bool prove)
{
    asked_ = pairToDiagnose();
    ended_ = {};
    banner_->clear();
    setWorking(true);
    context().commands.diagnose(asked_.first, asked_.second, prove);
}

// A diagnosis that found nothing says so, once the project and the comparison of the pair are there.
void FindingsPage::tellOutcome()
{
    const auto& [a, b] = ended_;
    if (a.isEmpty())
        return;
    const int row = rowOfPair(a + QLatin1Char('|') + b);
    if (row < findings_->rowCount() && qs(findings_->finding(row).runA) == a &&
        qs(findings_->finding(row).runB) == b) {
        ended_ = {};
        return;
    }
    const RunComparisonPtr known = context().comparisons.result(a, b);
    if (!known) {
        context().comparisons.want(a, b);
        return;
    }
    const DiagnosisOutcome outcome = outcomeWithoutFinding(*known);
    banner_->showMessage(outcome.state, outcome.headline, outcome.text);
    table_->setEmptyText(outcome.headline + QLatin1Char('.'));
    table_->viewport()->update();
    if (findings_->rowCount() == 0)
        showChain(*strip_, known, a, b);
    ended_ = {};
}

void FindingsPage::openCurves()
{
    if (shown_ >= 0)
        openCurvesAt(findings_->finding(shown_).step);
}

void FindingsPage::openCurvesAt(qint64 step)
{
    if (shown_ < 0)
        return;
    const FindingRow& finding = findings_->finding(shown_);
    context().selection.setExtraRuns({});
    context().selection.setRuns(qs(finding.runA), qs(finding.runB));
    Q_EMIT openRequested(QStringLiteral("curves"),
                         step >= 0 ? QStringLiteral("step:%1").arg(step) : QString());
}

// What one rank did is seen among the ranks, everything else in the curves.
void FindingsPage::openEvidence(const EvidenceText& row)
{
    if (row.rank < 0) {
        openCurvesAt(row.step);
        return;
    }
    const FindingRow& finding = findings_->finding(shown_);
    Q_EMIT openRequested(QStringLiteral("ranks"), QStringLiteral("run:%1\nstep:%2\nrank:%3\nquantity:%4")
                                                      .arg(qs(finding.runB))
                                                      .arg(row.step)
                                                      .arg(row.rank)
                                                      .arg(row.quantity));
}

void FindingsPage::jumpToDivergence()
{
    openCurves();
}

void FindingsPage::open(const QString&)
{
    refresh();
    table_->setFocus();
}

bool FindingsPage::escape()
{
    if (!banner_->isVisible())
        return false;
    banner_->clear();
    return true;
}

} // namespace lockstep
