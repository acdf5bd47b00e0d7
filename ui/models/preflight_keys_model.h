// Keys in which the single run and the DDP run of a judged preflight gate differ, each with the verdict of the check that
// judges it. What counts is decided in core/gates; this only puts it into rows.
#pragma once

#include "core/store/project_store.h"
#include "ui/models/roles.h"

#include <QAbstractTableModel>
#include <QString>

#include <vector>

namespace lockstep {

class PreflightKeysModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { Key, Single, Ddp, Verdict, Effect, Why, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    void setGate(const GateInfo* gate); // nullptr: not judged
    QString error() const { return error_; }
    QString singleName() const { return singleName_; }
    QString ddpName() const { return ddpName_; }
    // "34 keys: 29 equal, 5 differ".
    QString summary() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    // IdRole: the check that judges the row, empty where none does.
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    struct Row {
        QString key, single, ddp, effect, why;
        std::string check;
        State state = State::None;
    };
    std::vector<Row> rows_;
    QString error_, singleName_, ddpName_;
    int keys_ = 0;
};

} // namespace lockstep
