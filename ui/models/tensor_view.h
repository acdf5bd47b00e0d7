// One tensor for a look inside: how its values are spread, where the large ones lie, and its first rows and columns. Read in
// a pool thread.
#pragma once

#include "ui/models/checkpoint_tree.h"

#include <QAbstractTableModel>

#include <functional>
#include <memory>
#include <vector>

namespace lockstep {

struct TensorView {
    QString key, type, shape;
    QString error;                  // why there is nothing to see
    std::vector<std::int64_t> bins; // of equal width from `low` to `high`; finite values only
    double low = 0, high = 0;
    std::int64_t nan = 0, inf = 0;
    // All leading dimensions taken together are the rows, the last one the columns.
    std::int64_t allRows = 0, allColumns = 0;
    // The first rows and columns in row-major order.
    std::vector<double> slice;
    int rows = 0, columns = 0;
    // The whole tensor in at most heatRows x heatColumns cells: the largest absolute value in each, NaN where one is not
    // finite, so that nothing is averaged away.
    std::vector<double> heat;
    int heatRows = 0, heatColumns = 0;
};
using TensorViewPtr = std::shared_ptr<const TensorView>;

// `row`: position in CheckpointTree::rows, of a tensor. Two passes over its bytes; `wanted` is asked between blocks.
TensorViewPtr readTensorView(const CheckpointTreePtr& tree, std::size_t row,
                             const std::function<bool()>& wanted);

class TensorSliceModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    void setView(TensorViewPtr view); // may be null

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    TensorViewPtr view_;
};

} // namespace lockstep
