// The checks of one gate: verdict, what is checked, number, limit, where.
#pragma once

#include "core/store/project_store.h"

#include <QAbstractTableModel>

#include <vector>

namespace lockstep {

class ChecksModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { Verdict, Check, Number, Limit, Where, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    void setChecks(std::vector<GateCheck> checks);
    const GateCheck& check(int row) const { return checks_.at(std::size_t(row)); }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    std::vector<GateCheck> checks_;
};

} // namespace lockstep
