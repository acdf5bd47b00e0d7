#include "ui/pages/report_page.h"

#include "ui/models/checks_model.h"
#include "ui/models/findings_model.h"
#include "ui/models/format.h"
#include "ui/models/gates_model.h"
#include "ui/models/project_model.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/low_window_area.h"

#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QGuiApplication>
#include <QMenu>

#include <algorithm>

namespace lockstep {

namespace {

constexpr int kFindingsShown = 4; // Findings has all of them
constexpr int kCheckWidth = 260;  // of a check's name, at least
constexpr int kChecksHeight = 220;

} // namespace

ReportPage::ReportPage(const PageContext& context, QWidget* parent)
    : Page(context, tr("Report"), parent),
      checks_(new ChecksModel(this)),
      findings_(new FindingsModel(this)),
      gatesTable_(new DataTable(this)),
      findingsTable_(new DataTable(this, 26)),
      checksTable_(new DataTable(this, 26)),
      checksPane_(new Pane(tr("Checks of all gates"), this)),
      empty_(wrappedLabel(
          "secondary", tr("No gate was judged yet. Each judged gate adds its checks with number and limit."),
          this)),
      findingsPane_(new Pane(tr("Findings"), this)),
      copy_(button(tr("Copy as Markdown"), QStringLiteral("copy"), this))
{
    save_ = primaryButton(tr("Save report"), QStringLiteral("export"), this);
    save_->setObjectName(QStringLiteral("saveReport"));
    auto* forms = new QMenu(save_);
    forms->addAction(tr("One HTML file"), this, [this] { save(QStringLiteral("html")); });
    forms->addAction(tr("Markdown"), this, [this] { save(QStringLiteral("md")); });
    forms->addAction(tr("JSON"), this, [this] { save(QStringLiteral("json")); });
    forms->addAction(tr("JUnit XML, for CI"), this, [this] { save(QStringLiteral("xml")); });
    save_->setMenu(forms);
    headActions()->addWidget(copy_);
    headActions()->addWidget(save_);
    auto* area = new LowWindowArea(QBoxLayout::TopToBottom, this);
    QBoxLayout* const column = area->content();
    column->setSpacing(14);
    banner_ = new Banner(this);
    column->addWidget(banner_);
    auto* gatesPane = new Pane(tr("Gates"), this);
    gatesTable_->setModel(&context.gates);
    gatesTable_->setColumnPlan(GatesModel::Deciding, {GatesModel::Finished, GatesModel::Limit});
    gatesTable_->setFixedRows(6);
    gatesTable_->setAccessibleName(tr("Gates"));
    gatesPane->addWidget(gatesTable_);
    gatesPane->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    column->addWidget(gatesPane);
    overrides_ = new Banner(this);
    column->addWidget(overrides_);
    findingsTable_->setModel(findings_);
    findingsTable_->setColumnPlan(FindingsModel::Sentence, {FindingsModel::Runs, FindingsModel::Rank});
    findingsTable_->setAccessibleName(tr("Findings"));
    findingsPane_->addWidget(findingsTable_);
    moreFindings_ = linkButton({}, findingsPane_);
    moreFindings_->setObjectName(QStringLiteral("moreFindings"));
    findingsPane_->head()->addWidget(moreFindings_);
    connect(moreFindings_, &QPushButton::clicked, this,
            [this] { Q_EMIT openRequested(QStringLiteral("findings"), {}); });
    findingsPane_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    column->addWidget(findingsPane_);
    checksTable_->setModel(checks_);
    checksTable_->setColumnPlan(ChecksModel::Check, {ChecksModel::Where});
    checksTable_->setLongTexts({ChecksModel::Number, ChecksModel::Limit}, kCheckWidth);
    checksTable_->setAccessibleName(tr("Checks of all gates"));
    empty_->setContentsMargins(12, 12, 12, 12);
    empty_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    checksPane_->addWidget(empty_, 1);
    checksPane_->addWidget(checksTable_, 1);
    column->addWidget(checksPane_, 1);
    checksPane_->setMinimumHeight(kChecksHeight);
    body()->addWidget(area, 1);
    connect(copy_, &QPushButton::clicked, this, [this] {
        QGuiApplication::clipboard()->setText(markdown());
        Q_EMIT statusTextChanged(tr("The report is on the clipboard"));
    });
    connect(&context.commands, &RunCommands::reportWritten, this, [this](const QString& path) {
        Q_EMIT statusTextChanged(tr("Saved %1").arg(formatFolder(path)));
    });
    connect(&context.commands, &RunCommands::failed, this,
            [this](const QString& command, const QString& sentence) {
                if (command == QLatin1String("report"))
                    banner_->showMessage(State::Failed, tr("The report was not written"), sentence);
            });
    connect(gatesTable_, &DataTable::activatedId, this,
            [this](const QString& id) { Q_EMIT openRequested(id, {}); });
    connect(checksTable_, &DataTable::activatedId, this, [this](const QString& id) { // "preflight.lr"
        Q_EMIT openRequested(id.section(QLatin1Char('.'), 0, 0), {});
    });
    connect(findingsTable_, &DataTable::activatedId, this,
            [this](const QString&) { Q_EMIT openRequested(QStringLiteral("findings"), {}); });
    connect(&context.project, &ProjectModel::changed, this, &ReportPage::refresh);
    refresh();
}

void ReportPage::save(const QString& form)
{
    const QString wanted = QDir(context().project.folder()).filePath(QStringLiteral("report.") + form);
    const QString path =
        QFileDialog::getSaveFileName(this, tr("Save the report"), wanted, QStringLiteral("*.") + form);
    if (path.isEmpty())
        return;
    banner_->clear();
    context().commands.writeReport(path);
}

void ReportPage::refresh()
{
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    std::vector<GateCheck> all;
    for (const GateInfo& gate : snapshot->gates)
        all.insert(all.end(), gate.checks.begin(), gate.checks.end());
    std::stable_partition(all.begin(), all.end(),
                          [](const GateCheck& check) { return check.verdict != "pass"; });
    const QStringList reasons = overridesBefore(*snapshot, {});
    if (reasons.isEmpty())
        overrides_->clear();
    else
        overrides_->showMessage(State::Overridden,
                                tr("%n gate(s) were overridden", nullptr, int(reasons.size())),
                                reasons.join(QStringLiteral("; ")));
    findings_->setSnapshot(*snapshot);
    findingsPane_->setVisible(findings_->rowCount() > 0);
    findingsTable_->setFixedRows(std::min(findings_->rowCount(), kFindingsShown));
    const int more = findings_->rowCount() - kFindingsShown;
    moreFindings_->setVisible(more > 0);
    moreFindings_->setText(tr("%n more in Findings", nullptr, more));
    empty_->setVisible(all.empty());
    checksTable_->setVisible(!all.empty());
    copy_->setEnabled(!all.empty());
    save_->setEnabled(context().project.isOpen());
    checks_->setChecks(std::move(all));
    setSubtitle(
        context().gates.index(context().gates.rowCount() - 1, GatesModel::Deciding).data().toString());
}

QString ReportPage::markdown() const
{
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    QString text = QStringLiteral("# %1\n").arg(qs(snapshot->info.name));
    for (const GateInfo& gate : snapshot->gates) {
        QString title = qs(gate.phase);
        for (const PhaseInfo& phase : allPhases())
            if (gate.phase == phase.id)
                title = phaseTitle(phase);
        text += QStringLiteral("\n## %1: %2\n").arg(title, qs(gate.verdict));
        if (!gate.overrideReason.empty())
            text += tr("Overridden: %1").arg(qs(gate.overrideReason)) + QLatin1Char('\n');
        text += QStringLiteral("\n| %1 | %2 | %3 | %4 |\n|---|---|---|---|\n")
                    .arg(tr("check"), tr("verdict"), tr("number"), tr("limit"));
        for (const GateCheck& check : gate.checks)
            text += QStringLiteral("| %1 | %2 | %3 | %4 |\n")
                        .arg(qs(check.sentence.empty() ? check.id : check.sentence), qs(check.verdict),
                             qs(check.value), qs(check.limit));
    }
    for (const FindingRow& finding : snapshot->findings)
        text += QStringLiteral("\n- %1 (%2)\n").arg(qs(finding.sentence), confidenceWord(finding.confidence));
    return text;
}

} // namespace lockstep
