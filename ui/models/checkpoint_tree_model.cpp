#include "ui/models/checkpoint_tree_model.h"

#include "ui/models/format.h"
#include "ui/models/roles.h"

namespace lockstep {

namespace {

bool isNumber(int column)
{
    return column >= CheckpointTreeModel::Shape && column <= CheckpointTreeModel::NanCount;
}

} // namespace

void CheckpointTreeModel::setTree(CheckpointTreePtr tree)
{
    beginResetModel();
    tree_ = std::move(tree);
    numbers_.assign(tree_ ? tree_->rows.size() : 0, {});
    markedPrefix_.clear();
    endResetModel();
}

void CheckpointTreeModel::addNumbers(const NumbersBatch& batch)
{
    if (batch.tree != tree_)
        return;
    for (const auto& [at, numbers] : batch.rows) {
        numbers_[std::size_t(at)] = numbers;
        const int row = tree_->rows[std::size_t(at)].row;
        Q_EMIT dataChanged(createIndex(row, Norm, quintptr(at)), createIndex(row, NanCount, quintptr(at)));
    }
}

void CheckpointTreeModel::setMarkedPrefix(const QString& prefix)
{
    if (prefix == markedPrefix_ || !tree_)
        return;
    markedPrefix_ = prefix;
    for (std::size_t at = 0; at < tree_->rows.size(); ++at)
        if (tree_->rows[at].kind == QLatin1String("prefix"))
            Q_EMIT dataChanged(createIndex(tree_->rows[at].row, 0, quintptr(at)),
                               createIndex(tree_->rows[at].row, ColumnCount - 1, quintptr(at)));
}

// The rows "module." and, for "_orig_mod.module.", both of them.
bool CheckpointTreeModel::marked(const CheckpointRow& row) const
{
    return !markedPrefix_.isEmpty() && row.kind == QLatin1String("prefix") &&
           markedPrefix_.startsWith(keyName(*tree_, row));
}

QVariant CheckpointTreeModel::numberText(std::size_t row, int column) const
{
    const TensorNumbers& numbers = numbers_[row];
    if (!numbers.known)
        return {};
    if (column == Norm)
        return formatStatistic(numbers.norm);
    return column == Min ? numbers.minShort : formatCount(std::int64_t(numbers.nan));
}

QVariant CheckpointTreeModel::numberTip(std::size_t row) const
{
    const TensorNumbers& numbers = numbers_[row];
    if (!numbers.problem.isEmpty())
        return numbers.problem;
    if (!numbers.known)
        return {};
    return tr("norm %1\nmin %2\nmax %3\n%4 NaN, %5 Inf")
        .arg(formatExact(numbers.norm), numbers.min.isEmpty() ? QStringLiteral("-") : numbers.min,
             numbers.max.isEmpty() ? QStringLiteral("-") : numbers.max)
        .arg(numbers.nan)
        .arg(numbers.inf);
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
        case Norm:
        case Min:
        case NanCount:
            return numberText(std::size_t(index.internalId()), index.column());
        case ValueText:
            return one.value;
        default:
            return {};
        }
    case Qt::ToolTipRole:
        if (index.column() >= Norm && index.column() <= NanCount)
            return numberTip(std::size_t(index.internalId()));
        return index.column() == Key ? one.path : index.column() == ValueText ? one.value : QVariant();
    case Qt::TextAlignmentRole:
        return int(Qt::AlignVCenter | (isNumber(index.column()) ? Qt::AlignRight : Qt::AlignLeft));
    case ToneRole:
        if (index.column() == Key)
            return int(marked(one) ? Tone::Red : Tone::Normal);
        if (index.column() == NanCount && numbers_[std::size_t(index.internalId())].nan > 0)
            return int(Tone::Red);
        return int(one.tensor && index.column() != Kind ? Tone::Normal : Tone::Secondary);
    case TintRole:
        return marked(one);
    case EmphasisRole:
        return (index.column() == Key && marked(one)) ||
               (index.column() == NanCount && numbers_[std::size_t(index.internalId())].nan > 0);
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
        return int(Qt::AlignVCenter | (isNumber(section) ? Qt::AlignRight : Qt::AlignLeft));
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
    case Norm:
        return tr("norm");
    case Min:
        return tr("min");
    case NanCount:
        return tr("NaN");
    case ValueText:
        return tr("value");
    default:
        return {};
    }
}

} // namespace lockstep
