// The workloads that come with Lockstep, for the start page.
#pragma once

#include <QAbstractTableModel>

namespace lockstep {

class WorkloadsModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { Workload, Shows, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
};

} // namespace lockstep
