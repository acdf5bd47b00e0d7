// A CheckpointTree for views: key, dtype, shape, elements, value, and the numbers of tensors as they come in.
#pragma once

#include "ui/models/checkpoint_numbers.h"
#include "ui/models/checkpoint_tree.h"

#include <QAbstractItemModel>

namespace lockstep {

class CheckpointTreeModel : public QAbstractItemModel
{
    Q_OBJECT

public:
    enum Column { Key, Kind, Shape, Elements, Norm, Min, NanCount, ValueText, ColumnCount };

    using QAbstractItemModel::QAbstractItemModel;

    void setTree(CheckpointTreePtr tree); // may be null
    // Batches of another tree are ignored.
    void addNumbers(const NumbersBatch& batch);
    const std::vector<TensorNumbers>& numbers() const { return numbers_; }
    // Rows of this prefix get a red ground: what the verdict speaks of. Empty: none.
    void setMarkedPrefix(const QString& prefix);
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

    QVariant numberText(std::size_t row, int column) const;
    QVariant numberTip(std::size_t row) const;
    bool marked(const CheckpointRow& row) const;

    CheckpointTreePtr tree_;
    std::vector<TensorNumbers> numbers_; // one per row of the tree
    QString markedPrefix_;
};

} // namespace lockstep
