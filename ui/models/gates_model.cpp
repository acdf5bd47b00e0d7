#include "ui/models/gates_model.h"

#include "ui/models/format.h"

namespace lockstep {

GatesModel::GatesModel(QObject* parent) : QAbstractTableModel(parent)
{
    rebuild();
}

void GatesModel::setSnapshot(const ProjectSnapshot& snapshot, bool projectOpen)
{
    gatesOnly_.gates = snapshot.gates;
    gatesOnly_.findings = snapshot.findings;
    gatesOnly_.runs = snapshot.runs;
    projectOpen_ = projectOpen;
    rebuild();
}

void GatesModel::setJudging(const QString& phase)
{
    judging_ = phase;
    rebuild();
}

// The rows are always the same phases, so views keep their selection.
void GatesModel::rebuild()
{
    const bool first = statuses_.empty();
    statuses_ = phaseStatuses(gatesOnly_, projectOpen_, judging_);
    if (!first)
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int GatesModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(statuses_.size());
}

int GatesModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant GatesModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const PhaseStatus& status = statuses_[std::size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        switch (index.column()) {
        case Phase:
            return phaseTitle(*status.phase);
        case Gate:
            return status.word;
        case Checks:
            return status.checks;
        case Deciding:
            return status.deciding;
        case Limit:
            return status.limit;
        case Finished:
            return status.judgedUnixMs > 0 ? formatClock(status.judgedUnixMs) : QString();
        default:
            return {};
        }
    case Qt::ToolTipRole:
        if (index.column() == Gate || index.column() == Checks || index.column() == Deciding)
            return status.judgedOn.isEmpty() ? QVariant() : QVariant(status.judgedOn);
        if (index.column() != Phase)
            return {};
        return phaseTitle(*status.phase) + QStringLiteral(": ") + status.detail +
               (status.judgedOn.isEmpty() ? QString() : QStringLiteral(".\n") + status.judgedOn);
    case Qt::TextAlignmentRole:
        if (index.column() == Checks || index.column() == Limit || index.column() == Finished)
            return int(Qt::AlignRight | Qt::AlignVCenter);
        return int(Qt::AlignLeft | Qt::AlignVCenter);
    case StateRole:
        return index.column() == Gate ? QVariant(int(status.state)) : QVariant();
    case DetailRole:
        return status.detail;
    case IdRole:
        return QString::fromLatin1(status.phase->id);
    case EmphasisRole:
        return index.column() == Phase && status.open && status.state != State::Passed;
    case ToneRole:
        if (!status.open && projectOpen_)
            return int(Tone::Hint);
        if (index.column() == Finished || index.column() == Limit)
            return int(Tone::Secondary);
        return int(Tone::Normal);
    default:
        return {};
    }
}

QVariant GatesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case Phase:
        return tr("phase");
    case Gate:
        return tr("gate");
    case Checks:
        return tr("checks");
    case Deciding:
        return tr("deciding number");
    case Limit:
        return tr("limit");
    case Finished:
        return tr("finished");
    default:
        return {};
    }
}

} // namespace lockstep
