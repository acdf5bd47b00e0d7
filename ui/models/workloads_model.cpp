#include "ui/models/workloads_model.h"

#include "ui/models/roles.h"

#include <array>

namespace lockstep {

namespace {

struct Row {
    const char* id;
    const char* what;
    const char* shows;
};
constexpr std::array kRows = {
    Row{"toy-mlp", QT_TRANSLATE_NOOP("lockstep::WorkloadsModel", "128-64-10 network, 1,000 samples"),
        QT_TRANSLATE_NOOP("lockstep::WorkloadsModel", "loss scale, set_epoch")},
    Row{"digits-cnn", QT_TRANSLATE_NOOP("lockstep::WorkloadsModel", "BatchNorm and dropout, 8x8 digits"),
        QT_TRANSLATE_NOOP("lockstep::WorkloadsModel", "BatchNorm, RNG streams")},
    Row{"char-gpt", QT_TRANSLATE_NOOP("lockstep::WorkloadsModel", "small transformer, tied embedding"),
        QT_TRANSLATE_NOOP("lockstep::WorkloadsModel", "accumulation, token weights")},
};

} // namespace

int WorkloadsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(kRows.size());
}

int WorkloadsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant WorkloadsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Row& row = kRows[std::size_t(index.row())];
    if (role == IdRole)
        return QString::fromLatin1(row.id);
    if (role == Qt::DisplayRole)
        return index.column() == Workload ? QString::fromLatin1(row.id) : tr(row.shows);
    if (role == DetailRole)
        return index.column() == Workload ? tr(row.what) : QVariant();
    if (role == EmphasisRole)
        return index.column() == Workload;
    if (role == ToneRole)
        return int(index.column() == Workload ? Tone::Normal : Tone::Secondary);
    return {};
}

QVariant WorkloadsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    return section == Workload ? tr("workload") : tr("shows faults in");
}

} // namespace lockstep
