// A small finished table of text: headers, rows, a state for the first column. For lists that are made once and shown as they
// are: records of a file, a resume checklist.
#pragma once

#include "ui/models/roles.h"

#include <QAbstractTableModel>
#include <QStringList>

#include <vector>

namespace lockstep {

struct FactTable {
    struct Row {
        State state = State::None; // of the first column
        QStringList cells;
    };
    QStringList headers;
    std::vector<int> numbers; // columns that are aligned to the right
    std::vector<Row> rows;
};

class FactTableModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    void setTable(FactTable table);
    const FactTable& table() const { return table_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    FactTable table_;
};

} // namespace lockstep
