// A CheckpointTree for views: key, dtype, shape, elements, value.
#pragma once

#include "ui/models/checkpoint_tree.h"

#include <QAbstractItemModel>

namespace lockstep {

class CheckpointTreeModel : public QAbstractItemModel
{
    Q_OBJECT

public:
    enum Column { Key, Kind, Shape, Elements, ValueText, ColumnCount };

    using QAbstractItemModel::QAbstractItemModel;

    void setTree(CheckpointTreePtr tree); // may be null
    const CheckpointTree* tree() const { return tree_.get(); }
    const CheckpointRow& row(const QModelIndex& index) const
    {
        return tree_->rows[std::size_t(index.internalId())];
    }

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    const std::vector<int>& childrenOf(const QModelIndex& parent) const;

    CheckpointTreePtr tree_;
};

} // namespace lockstep
