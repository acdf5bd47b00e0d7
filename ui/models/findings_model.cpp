#include "ui/models/findings_model.h"

#include "ui/models/format.h"
#include "ui/models/newer_runs.h"
#include "ui/models/roles.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace lockstep {

namespace {

bool same(const FindingRow& a, const FindingRow& b)
{
    return std::tie(a.runA, a.runB, a.cause, a.confidence, a.sentence, a.evidenceJson, a.step, a.rank) ==
           std::tie(b.runA, b.runB, b.cause, b.confidence, b.sentence, b.evidenceJson, b.step, b.rank);
}

int doubtIn(const std::string& confidence)
{
    constexpr std::array words = {"proven", "likely", "possible", "benign"};
    return int(std::find(words.begin(), words.end(), confidence) - words.begin());
}

} // namespace

QString confidenceWord(const std::string& confidence)
{
    return confidence == "proven"     ? FindingsModel::tr("proven")
           : confidence == "likely"   ? FindingsModel::tr("likely")
           : confidence == "possible" ? FindingsModel::tr("possible")
           : confidence == "benign"   ? FindingsModel::tr("benign")
                                      : qs(confidence);
}

void FindingsModel::setFindings(std::vector<FindingRow> findings)
{
    const auto all = qsizetype(findings.size());
    take(std::move(findings), QStringList(all));
}

void FindingsModel::setSnapshot(const ProjectSnapshot& snapshot)
{
    std::vector<FindingRow> certain = snapshot.findings;
    std::stable_sort(certain.begin(), certain.end(), [](const FindingRow& a, const FindingRow& b) {
        return doubtIn(a.confidence) < doubtIn(b.confidence);
    });
    std::vector<FindingRow> findings;
    QStringList newer;
    for (const bool older : {false, true}) {
        for (const FindingRow& finding : certain) {
            const QStringList followed = newerRuns(snapshot, finding);
            if (followed.isEmpty() == older)
                continue;
            findings.push_back(finding);
            newer << followed.value(0);
        }
    }
    take(std::move(findings), std::move(newer));
}

void FindingsModel::take(std::vector<FindingRow> findings, QStringList newer)
{
    if (newer == newer_ &&
        std::equal(findings.begin(), findings.end(), findings_.begin(), findings_.end(), same))
        return; // the selection stays
    beginResetModel();
    findings_ = std::move(findings);
    newer_ = std::move(newer);
    endResetModel();
}

QString FindingsModel::newer(int row) const
{
    const QString run = newer_.value(row);
    return run.isEmpty() ? QString() : tr("newer runs exist: %1").arg(run);
}

int currentFindings(const ProjectSnapshot& snapshot)
{
    return int(std::count_if(
        snapshot.findings.begin(), snapshot.findings.end(), [&snapshot](const FindingRow& finding) {
            return finding.confidence != "benign" && newerRuns(snapshot, finding).isEmpty();
        }));
}

int FindingsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(findings_.size());
}

int FindingsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant FindingsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const FindingRow& row = findings_[std::size_t(index.row())];
    const bool benign = row.confidence == "benign";
    const bool older = !newer_.value(index.row()).isEmpty();
    switch (role) {
    case Qt::DisplayRole:
        switch (index.column()) {
        case Confidence:
            return confidenceWord(row.confidence);
        case Cause:
            return qs(row.cause);
        case Sentence:
            return qs(row.sentence);
        case Step:
            return row.step >= 0 ? QString::number(row.step) : QStringLiteral("-");
        case Rank:
            return row.rank >= 0 ? QString::number(row.rank) : tr("all");
        case Runs:
            return older ? tr("%1 against %2, older runs").arg(qs(row.runB), qs(row.runA))
                         : tr("%1 against %2").arg(qs(row.runB), qs(row.runA));
        default:
            return {};
        }
    case Qt::ToolTipRole:
        if (index.column() != Sentence)
            return older ? QVariant(newer(index.row())) : QVariant();
        return older ? qs(row.sentence) + QLatin1Char('\n') + newer(index.row()) : qs(row.sentence);
    case Qt::TextAlignmentRole:
        return int(Qt::AlignVCenter |
                   (index.column() == Step || index.column() == Rank ? Qt::AlignRight : Qt::AlignLeft));
    case StateRole:
        return index.column() == Confidence ? QVariant(int(older    ? State::Off
                                                           : benign ? State::Holds
                                                                    : State::Diverged))
                                            : QVariant();
    case EmphasisRole:
        return !benign && !older && index.column() == Sentence;
    case ToneRole:
        if (older)
            return int(Tone::Hint);
        return int(index.column() == Runs ? Tone::Secondary : Tone::Normal);
    case IdRole:
        return QStringLiteral("%1|%2|%3").arg(qs(row.runA), qs(row.runB), qs(row.cause));
    default:
        return {};
    }
}

QVariant FindingsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case Confidence:
        return tr("certainty");
    case Cause:
        return tr("cause");
    case Sentence:
        return tr("finding");
    case Step:
        return tr("step");
    case Rank:
        return tr("rank");
    case Runs:
        return tr("runs");
    default:
        return {};
    }
}

} // namespace lockstep
