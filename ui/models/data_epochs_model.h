// The per-epoch table of phase 1: samples seen, overlap, padding, omissions, steps, order.
#pragma once

#include "core/gates/data_judge.h"

#include <QAbstractTableModel>

#include <vector>

namespace lockstep {

class DataEpochsModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { Epoch, Seen, Overlap, Padding, Omitted, Steps, Order, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    void setEpochs(std::vector<EpochRow> epochs, std::int64_t datasetSize);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QString text(const EpochRow& row, int place, int column) const;

    std::vector<EpochRow> epochs_;
    std::int64_t datasetSize_ = 0;
};

} // namespace lockstep
