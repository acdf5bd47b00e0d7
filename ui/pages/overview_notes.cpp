#include "ui/pages/overview_notes.h"

#include "ui/models/findings_model.h"
#include "ui/models/format.h"
#include "ui/models/phases.h"
#include "ui/widgets/building_blocks.h"

#include <QVBoxLayout>

#include <vector>

namespace lockstep {

namespace {

constexpr int kNotes = 4; // Findings has all of them

} // namespace

OverviewNotes::OverviewNotes(QWidget* parent) : QWidget(parent), column_(new QVBoxLayout(this))
{
    column_->setContentsMargins(0, 0, 0, 0);
    column_->setSpacing(14);
    hide();
}

void OverviewNotes::setSnapshot(const ProjectSnapshot& snapshot)
{
    struct Note {
        State state;
        QString chip, headline, text, page;
    };
    std::vector<Note> notes;
    for (const GateInfo& gate : snapshot.gates) {
        if (gate.overrideReason.empty())
            continue;
        for (const PhaseInfo& phase : allPhases())
            if (gate.phase == phase.id)
                notes.push_back({State::Overridden,
                                 tr("override, %1").arg(formatClock(gate.overriddenUnixMs)),
                                 tr("%1 was overridden").arg(phaseTitle(phase)), qs(gate.overrideReason),
                                 qs(gate.phase)});
    }
    FindingsModel findings; // those of the newest runs first
    findings.setSnapshot(snapshot);
    int more = 0;
    for (int row = 0; row < findings.rowCount(); ++row) {
        const FindingRow& finding = findings.finding(row);
        if (finding.confidence == "benign")
            continue; // asks nothing of anybody
        if (notes.size() >= kNotes) {
            ++more;
            continue;
        }
        const QString newer = findings.newer(row);
        QStringList where{tr("%1 against %2").arg(qs(finding.runB), qs(finding.runA))};
        if (finding.step >= 0)
            where << tr("step %1").arg(finding.step);
        if (finding.rank >= 0)
            where << tr("rank %1").arg(finding.rank);
        where << confidenceWord(finding.confidence);
        if (!newer.isEmpty())
            where << newer;
        notes.push_back({newer.isEmpty() ? State::Diverged : State::Off,
                         newer.isEmpty() ? tr("finding") : tr("finding of older runs"), qs(finding.sentence),
                         where.join(QStringLiteral(", ")), QStringLiteral("findings")});
    }
    QString shown = QString::number(more);
    for (const Note& note : notes)
        shown += note.chip + note.headline + note.text + QLatin1Char('\n');
    if (shown == shown_)
        return;
    shown_ = shown;
    while (QLayoutItem* item = column_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    setVisible(!notes.empty());
    for (const Note& note : notes) {
        auto* box = new QFrame(this);
        box->setObjectName(QStringLiteral("pane"));
        auto* column = new QVBoxLayout(box);
        column->setContentsMargins(12, 10, 12, 10);
        column->setSpacing(5);
        auto* chip = new Chip(box);
        chip->setState(note.state, note.chip);
        auto* headline = wrappedLabel("paneTitle", note.headline, box);
        auto* text = wrappedLabel("note", note.text, box);
        auto* link = linkButton(tr("Open"), box);
        column->addWidget(chip);
        column->addWidget(headline);
        column->addWidget(text);
        column->addWidget(link, 0, Qt::AlignLeft);
        connect(link, &QPushButton::clicked, this, [this, page = note.page] { Q_EMIT openRequested(page); });
        column_->addWidget(box);
    }
    if (more == 0)
        return;
    auto* all = linkButton(tr("%n more finding(s)", nullptr, more), this);
    all->setObjectName(QStringLiteral("moreFindings"));
    connect(all, &QPushButton::clicked, this, [this] { Q_EMIT openRequested(QStringLiteral("findings")); });
    column_->addWidget(all, 0, Qt::AlignLeft);
}

} // namespace lockstep
