#include "ui/models/data_epochs_model.h"

#include "ui/models/format.h"
#include "ui/models/roles.h"

#include <utility>

namespace lockstep {

void DataEpochsModel::setEpochs(std::vector<EpochRow> epochs, std::int64_t datasetSize)
{
    beginResetModel();
    epochs_ = std::move(epochs);
    datasetSize_ = datasetSize;
    endResetModel();
}

int DataEpochsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(epochs_.size());
}

int DataEpochsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString DataEpochsModel::text(const EpochRow& row, int place, int column) const
{
    switch (column) {
    case Epoch:
        return QString::number(row.epoch);
    case Seen:
        return tr("%1 of %2").arg(formatCount(row.seen), formatCount(datasetSize_));
    case Overlap:
        return formatCount(row.overlap);
    case Padding:
        return formatCount(row.padding);
    case Omitted:
        return formatCount(row.omitted);
    case Steps:
        return tr("%1 to %2").arg(formatCount(row.firstStep), formatCount(row.firstStep + row.steps - 1));
    default:
        return place == 0 ? tr("first order") : row.sameOrder ? tr("same order") : tr("changed");
    }
}

QVariant DataEpochsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const EpochRow& row = epochs_[std::size_t(index.row())];
    const bool wrong =
        (index.column() == Order && row.sameOrder) || (index.column() == Overlap && row.overlap > 0);
    switch (role) {
    case Qt::DisplayRole:
        return text(row, index.row(), index.column());
    case Qt::TextAlignmentRole:
        return int(Qt::AlignVCenter | (index.column() == Order ? Qt::AlignLeft : Qt::AlignRight));
    case ToneRole:
        return int(wrong ? Tone::Red : Tone::Normal);
    case StateRole:
        return int(index.column() == Order && row.sameOrder ? State::Diverged : State::None);
    case EmphasisRole:
        return wrong;
    default:
        return {};
    }
}

QVariant DataEpochsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case Epoch:
        return tr("epoch");
    case Seen:
        return tr("samples seen");
    case Overlap:
        return tr("overlap");
    case Padding:
        return tr("padding");
    case Omitted:
        return tr("omitted");
    case Steps:
        return tr("steps");
    default:
        return tr("order");
    }
}

} // namespace lockstep
