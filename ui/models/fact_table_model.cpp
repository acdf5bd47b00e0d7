#include "ui/models/fact_table_model.h"

#include <algorithm>

namespace lockstep {

void FactTableModel::setTable(FactTable table)
{
    beginResetModel();
    table_ = std::move(table);
    endResetModel();
}

int FactTableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(table_.rows.size());
}

int FactTableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(table_.headers.size());
}

QVariant FactTableModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const FactTable::Row& row = table_.rows[std::size_t(index.row())];
    const bool bad = row.state == State::Failed || row.state == State::Diverged;
    switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
        return row.cells.value(index.column());
    case Qt::TextAlignmentRole: {
        const bool number =
            std::find(table_.numbers.begin(), table_.numbers.end(), index.column()) != table_.numbers.end();
        return int(Qt::AlignVCenter | (number ? Qt::AlignRight : Qt::AlignLeft));
    }
    case StateRole:
        return index.column() == 0 && row.state != State::None ? QVariant(int(row.state)) : QVariant();
    case TintRole:
        return bad;
    case EmphasisRole:
        return bad && index.column() == 0;
    case IdRole:
        return row.cells.value(0);
    default:
        return {};
    }
}

QVariant FactTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    return table_.headers.value(section);
}

} // namespace lockstep
