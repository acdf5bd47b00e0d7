#include "ui/models/checks_model.h"

#include "ui/models/check_titles.h"
#include "ui/models/format.h"
#include "ui/models/roles.h"

namespace lockstep {

namespace {

bool sameIds(const std::vector<GateCheck>& a, const std::vector<GateCheck>& b)
{
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(),
                      [](const GateCheck& x, const GateCheck& y) { return x.id == y.id; });
}

State verdictState(const GateCheck& check)
{
    if (check.verdict.empty())
        return State::Waiting; // not judged yet
    if (check.verdict == "pass")
        return State::Holds;
    return check.verdict == "fail" ? State::Diverged : State::CannotCompare;
}

} // namespace

void ChecksModel::setChecks(std::vector<GateCheck> checks)
{
    // Judged again: the selection stays. Judged for the first time: what was chosen of the plan means nothing.
    if (!checks_.empty() && !checks_.front().verdict.empty() && sameIds(checks_, checks)) {
        checks_ = std::move(checks);
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
        return;
    }
    beginResetModel();
    checks_ = std::move(checks);
    endResetModel();
}

int ChecksModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(checks_.size());
}

int ChecksModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ChecksModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const GateCheck& check = checks_[std::size_t(index.row())];
    const State state = verdictState(check);
    switch (role) {
    case Qt::DisplayRole:
        switch (index.column()) {
        case Verdict:
            return state == State::Holds      ? tr("holds")
                   : state == State::Diverged ? tr("fails")
                   : state == State::Waiting  ? tr("waiting")
                                              : tr("cannot judge");
        case Check: {
            const QString title = checkTitle(check.id);
            return title.isEmpty() ? qs(check.sentence.empty() ? check.id : check.sentence) : title;
        }
        case Number:
            return qs(check.value);
        case Limit:
            return qs(check.limit);
        case Where: {
            QStringList where;
            if (check.step >= 0)
                where << tr("step %1").arg(check.step);
            if (check.rank >= 0)
                where << tr("rank %1").arg(check.rank);
            if (!check.parameter.empty())
                where << qs(check.parameter);
            return where.join(QStringLiteral(", "));
        }
        default:
            return {};
        }
    case Qt::ToolTipRole:
        if (index.column() == Number || index.column() == Limit)
            return data(index, Qt::DisplayRole);
        return qs(check.sentence.empty() ? check.id : check.id + ": " + check.sentence);
    case Qt::TextAlignmentRole:
        return int(Qt::AlignVCenter |
                   (index.column() == Number || index.column() == Limit ? Qt::AlignRight : Qt::AlignLeft));
    case StateRole:
        return index.column() == Verdict ? QVariant(int(state)) : QVariant();
    case EmphasisRole:
        return state == State::Diverged && (index.column() == Check || index.column() == Number);
    case TintRole:
        return state == State::Diverged;
    case ToneRole:
        if (state == State::Diverged && index.column() == Number)
            return int(Tone::Red);
        return int(state == State::Waiting || index.column() == Limit || index.column() == Where
                       ? Tone::Secondary
                       : Tone::Normal);
    case IdRole:
        return qs(check.id);
    default:
        return {};
    }
}

QVariant ChecksModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case Verdict:
        return tr("verdict");
    case Check:
        return tr("check");
    case Number:
        return tr("number");
    case Limit:
        return tr("limit");
    case Where:
        return tr("where");
    default:
        return {};
    }
}

} // namespace lockstep
