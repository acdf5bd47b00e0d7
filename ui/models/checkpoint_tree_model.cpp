#include "ui/models/checkpoint_tree_model.h"

#include "ui/models/format.h"
#include "ui/models/roles.h"

namespace lockstep {

void CheckpointTreeModel::setTree(CheckpointTreePtr tree)
{
    beginResetModel();
    tree_ = std::move(tree);
    endResetModel();
}

const std::vector<int>& CheckpointTreeModel::childrenOf(const QModelIndex& parent) const
{
    static const std::vector<int> none;
    if (!tree_)
        return none;
    if (!parent.isValid())
        return tree_->roots;
    return parent.column() == 0 ? row(parent).children : none;
}

// Internal id: position in CheckpointTree::rows.
QModelIndex CheckpointTreeModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    return createIndex(row, column, quintptr(childrenOf(parent)[std::size_t(row)]));
}

QModelIndex CheckpointTreeModel::parent(const QModelIndex& child) const
{
    if (!child.isValid())
        return {};
    const int above = row(child).parent;
    return above < 0 ? QModelIndex() : createIndex(tree_->rows[std::size_t(above)].row, 0, quintptr(above));
}

int CheckpointTreeModel::rowCount(const QModelIndex& parent) const
{
    return int(childrenOf(parent).size());
}

int CheckpointTreeModel::columnCount(const QModelIndex&) const
{
    return ColumnCount;
}

QVariant CheckpointTreeModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const CheckpointRow& one = row(index);
    switch (role) {
    case Qt::DisplayRole:
        switch (index.column()) {
        case Key:
            return one.name;
        case Kind:
            return one.kind;
        case Shape:
            return one.shape;
        case Elements:
            return one.elements < 0 ? QString() : formatCount(one.elements);
        case ValueText:
            return one.value;
        default:
            return {};
        }
    case Qt::ToolTipRole:
        return index.column() == Key ? one.path : index.column() == ValueText ? one.value : QVariant();
    case Qt::TextAlignmentRole:
        return int(Qt::AlignVCenter |
                   (index.column() == Shape || index.column() == Elements ? Qt::AlignRight : Qt::AlignLeft));
    case ToneRole:
        if (index.column() == Key)
            return int(Tone::Normal);
        return int(one.tensor && index.column() != Kind ? Tone::Normal : Tone::Secondary);
    case IdRole:
        return one.path;
    default:
        return {};
    }
}

QVariant CheckpointTreeModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int(Qt::AlignVCenter |
                   (section == Shape || section == Elements ? Qt::AlignRight : Qt::AlignLeft));
    if (role != Qt::DisplayRole)
        return QAbstractItemModel::headerData(section, orientation, role);
    switch (section) {
    case Key:
        return tr("key");
    case Kind:
        return tr("dtype");
    case Shape:
        return tr("shape");
    case Elements:
        return tr("elements");
    case ValueText:
        return tr("value");
    default:
        return {};
    }
}

} // namespace lockstep
