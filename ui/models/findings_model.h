// The findings of the project, one row per cause: how certain, what, where, between which runs.
#pragma once

#include "core/store/project_store.h"

#include <QAbstractTableModel>

#include <vector>

namespace lockstep {

class FindingsModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { Confidence, Cause, Sentence, Step, Rank, Runs, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    void setFindings(std::vector<FindingRow> findings);
    const FindingRow& finding(int row) const { return findings_.at(std::size_t(row)); }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    std::vector<FindingRow> findings_;
};

// "proven", translated.
QString confidenceWord(const std::string& confidence);

} // namespace lockstep
