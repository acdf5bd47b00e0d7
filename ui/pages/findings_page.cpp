#include "ui/pages/findings_page.h"

#include "ui/models/comparison_model.h"
#include "ui/models/diagnosis_outcome.h"
#include "ui/models/findings_model.h"
#include "ui/models/format.h"
#include "ui/models/next_action.h"
#include "ui/models/project_model.h"
#include "ui/pages/causal_chain.h"
#include "ui/pages/finding_detail.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/causal_strip.h"
#include "ui/widgets/data_table.h"

#include <QProgressBar>

#include <utility>

namespace lockstep {

namespace {

constexpr int kSentenceWidth = 340; // at least; the runs stand beside it too

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
      detail_(new FindingDetail(this)),
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
    table_->setLongTexts({}, kSentenceWidth);
    pane->addWidget(table_, 1);
    row->addWidget(pane, 1);
    row->addWidget(detail_);
    column->addLayout(row, 1);
    body()->addLayout(column, 1);
    connect(detail_, &FindingDetail::evidenceChosen, this, &FindingsPage::openEvidence);
    connect(detail_, &FindingDetail::curvesRequested, this, &FindingsPage::openCurves);
    connect(detail_, &FindingDetail::separateRequested, this, &FindingsPage::separate);
    connect(detail_, &FindingDetail::applyRequested, this, &FindingsPage::applySetting);
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
            [this](const QString& command, const QString& sentence, int call) {
                if (isApplying(call))
                    banner_->showMessage(State::Failed, tr("The run could not be started"), sentence);
                if (command != QLatin1String("diagnose"))
                    return;
                setWorking(false);
                asked_ = {};
                separated_.reset();
                detail_->setSeparating(false);
                banner_->showMessage(State::Failed, tr("The diagnosis could not be made"), sentence);
            });
    connect(&context.commands, &RunCommands::runStarted, this, [this](const QString& run, int call) {
        if (!isApplying(call))
            return;
        RunSelection& selection = this->context().selection;
        applied_ = run;
        selection.setRuns(selection.runA(), run);
        banner_->showMessage(State::Running, tr("%1 trains with %2").arg(run, offered_.change),
                             tr("It is B now. Diagnose A and B once it has finished."));
    });
    refresh();
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
    detail_->setVisible(findings_->rowCount() > 0);
    const QString searched = tr("What was recorded is searched for the first broken link and its cause.");
    if (told_.first != pairToDiagnose())
        told_ = {};
    table_->setEmptyText(
        !told_.second.isEmpty()
            ? told_.second
            : (pair ? tr("No finding yet. Press Diagnose A and B.")
                    : tr("No finding yet. Mark two runs with A and B in Runs, then diagnose them.")) +
                  QLatin1Char('\n') + searched);
    if (findings_->rowCount() == 0)
        strip_->setSentence(State::None, tr("The causal chain of a finding's runs stands here."));
    if (findings_->rowCount() > 0 &&
        !table_->currentIndex().isValid()) // the pair stays after a new diagnosis
        table_->setCurrentIndex(findings_->index(
            rowOfPair(shownPair_.isEmpty() ? selection.runA() + QLatin1Char('|') + selection.runB()
                                           : shownPair_),
            0));
    else
        showFinding(table_->currentIndex().row());
    showPair();
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
    detail_->showFinding(finding, findings_->newer(row));
    showOffer(finding);
    showStrip();
    showPair();
}

// Of which runs the chain and the finding speak, beside those that the buttons act on.
void FindingsPage::showPair()
{
    const RunSelection& selection = context().selection;
    const bool marked = !selection.runA().isEmpty() && !selection.runB().isEmpty();
    if (shown_ < 0 || !marked) {
        setSubtitle(marked ? tr("A %1 against B %2").arg(selection.runA(), selection.runB())
                           : tr("%n finding(s)", nullptr, findings_->rowCount()));
        return;
    }
    const FindingRow& finding = findings_->finding(shown_);
    const QString a = qs(finding.runA), b = qs(finding.runB);
    QString text =
        a == selection.runA() && b == selection.runB()
            ? tr("A %1 against B %2").arg(a, b)
            : tr("shown: %1 against %2; marked: A %3, B %4").arg(b, a, selection.runA(), selection.runB());
    if (!chainOf_.isEmpty())
        text = tr("%1; chain against %2").arg(text, chainOf_);
    setSubtitle(text);
}

// Of the finding's own pair, whatever A and B are, as far as such a chain says anything.
void FindingsPage::showStrip()
{
    if (shown_ < 0 || !isVisible())
        return;
    const FindingRow& finding = findings_->finding(shown_);
    const QString a = qs(finding.runA), b = qs(finding.runB);
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    chainOf_.clear();
    if (!snapshot->run(a) || !snapshot->run(b)) {
        strip_->setSentence(State::None, tr("A run of this finding is gone."));
        return;
    }
    RunComparisonPtr known = context().comparisons.result(a, b);
    if (known && known->byDesign) {
        // All links differ by design, so the chain would show nothing; a twin or a run without the fault can.
        const QString other = referenceRun(*snapshot, *snapshot->run(b));
        if (!other.isEmpty() && other != a) {
            chainOf_ = other;
            known = context().comparisons.result(other, b);
        }
    }
    const QString reference = chainOf_.isEmpty() ? a : chainOf_;
    if (!known)
        context().comparisons.want(reference, b);
    showChain(*strip_, known, reference, b);
    showPair();
}

void FindingsPage::showOffer(const FindingRow& finding)
{
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    offered_ = snapshot->readOnly ? FindingOffer() : findingOffer(finding, *snapshot);
    detail_->showOffer(offered_);
    detail_->setSeparating(separated_.has_value());
}

void FindingsPage::separate()
{
    if (shown_ < 0)
        return;
    separated_ = findings_->finding(shown_);
    toldApart_ = false;
    detail_->setSeparating(true);
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
    detail_->setSeparating(false);
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
    applying_ = context().commands.startRun(*offered_.mended);
}

// Once: the answer to the call is taken.
bool FindingsPage::isApplying(int call)
{
    if (call == 0 || call != applying_)
        return false;
    applying_ = 0;
    return true;
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
    told_ = {{a, b}, outcome.headline + QLatin1Char('.')};
    table_->setEmptyText(told_.second);
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
