#include "ui/pages/findings_page.h"

#include "ui/models/evidence_rows.h"
#include "ui/models/findings_model.h"
#include "ui/models/format.h"
#include "ui/models/project_model.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/data_table.h"

#include <QProgressBar>
#include <QScrollArea>

namespace lockstep {

namespace {

constexpr int kDetailWidth = 380;
constexpr int kRowsShown = 24;

} // namespace

FindingsPage::FindingsPage(const PageContext& context, QWidget* parent)
    : Page(context, tr("Findings"), parent),
      findings_(new FindingsModel(this)),
      table_(new DataTable(this, 29)),
      banner_(new Banner(this)),
      progress_(new QProgressBar(this)),
      diagnose_(primaryButton(tr("Diagnose A and B"), QStringLiteral("findings"), this)),
      prove_(button(tr("Prove by replay"), QStringLiteral("shield"), this))
{
    diagnose_->setObjectName(QStringLiteral("diagnose"));
    prove_->setToolTip(
        tr("Replays each suspected cause in a twin, five at most; equal in every bit is proof"));
    progress_->setRange(0, 0);
    progress_->setTextVisible(false);
    progress_->setFixedWidth(120);
    progress_->hide();
    headActions()->addWidget(progress_);
    headActions()->addWidget(prove_);
    headActions()->addWidget(diagnose_);
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
    connect(&context.project, &ProjectModel::changed, this, &FindingsPage::refresh);
    connect(&context.selection, &RunSelection::runsChanged, this, &FindingsPage::refresh);
    connect(&context.commands, &RunCommands::diagnosed, this, [this] { progress_->hide(); });
    connect(&context.commands, &RunCommands::failed, this,
            [this](const QString& command, const QString& sentence) {
                if (command != QLatin1String("diagnose"))
                    return;
                progress_->hide();
                banner_->showMessage(State::Failed, tr("The diagnosis could not be made"), sentence);
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
    for (QLabel* text : {speaks_, rulesOut_}) {
        text->setTextFormat(Qt::RichText);
        text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    for (QWidget* one : std::initializer_list<QWidget*>{sentence_, where_, speaksTitle_, speaks_,
                                                        rulesOutTitle_, rulesOut_, fixTitle_, fix_})
        column->addWidget(one);
    column->addWidget(curves_, 0, Qt::AlignLeft);
    column->addStretch(1);
    scroll->setWidget(page);
    pane->addWidget(scroll, 1);
    connect(curves_, &QPushButton::clicked, this, &FindingsPage::openCurves);
    return detail_ = pane;
}

void FindingsPage::refresh()
{
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    findings_->setFindings(snapshot->findings);
    const RunSelection& selection = context().selection;
    const bool pair = !selection.runA().isEmpty() && !selection.runB().isEmpty();
    const bool possible = pair && context().project.isOpen() && !snapshot->readOnly;
    diagnose_->setEnabled(possible);
    prove_->setEnabled(possible);
    setSubtitle(pair ? tr("A %1 against B %2").arg(selection.runA(), selection.runB())
                     : tr("%n finding(s)", nullptr, findings_->rowCount()));
    detail_->setVisible(findings_->rowCount() > 0);
    if (findings_->rowCount() > 0 && !table_->currentIndex().isValid())
        table_->setCurrentIndex(findings_->index(0, 0));
    else
        showFinding(table_->currentIndex().row());
}

void FindingsPage::showFinding(int row)
{
    shown_ = row >= 0 && row < findings_->rowCount() ? row : -1;
    if (shown_ < 0)
        return;
    const FindingRow& finding = findings_->finding(row);
    confidence_->setState(finding.confidence == "benign" ? State::Holds : State::Diverged,
                          confidenceWord(finding.confidence));
    sentence_->setText(qs(finding.sentence));
    QStringList where{tr("cause %1").arg(qs(finding.cause))};
    if (finding.step >= 0)
        where << tr("step %1").arg(finding.step);
    where << (finding.rank >= 0 ? tr("rank %1").arg(finding.rank) : tr("all ranks"));
    where << tr("%1 against %2").arg(qs(finding.runB), qs(finding.runA));
    where_->setText(where.join(QStringLiteral(", ")));
    std::vector<EvidenceText> speaks, excludes;
    for (EvidenceText& one : evidenceRows(finding.evidenceJson))
        (one.excludes ? excludes : speaks).push_back(std::move(one));
    speaks_->setText(evidenceHtml(speaks, kRowsShown));
    rulesOut_->setText(evidenceHtml(excludes, kRowsShown));
    speaksTitle_->setVisible(!speaks.empty());
    speaks_->setVisible(!speaks.empty());
    rulesOutTitle_->setVisible(!excludes.empty());
    rulesOut_->setVisible(!excludes.empty());
    fixTitle_->setVisible(!finding.fix.empty());
    fix_->setVisible(!finding.fix.empty());
    fix_->setCode(qs(finding.fix));
}

void FindingsPage::diagnose(bool prove)
{
    banner_->clear();
    progress_->show();
    context().commands.diagnose(context().selection.runA(), context().selection.runB(), prove);
}

void FindingsPage::openCurves()
{
    if (shown_ < 0)
        return;
    const FindingRow& finding = findings_->finding(shown_);
    context().selection.setExtraRuns({});
    context().selection.setRuns(qs(finding.runA), qs(finding.runB));
    Q_EMIT openRequested(QStringLiteral("curves"),
                         finding.step >= 0 ? QStringLiteral("step:%1").arg(finding.step) : QString());
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
