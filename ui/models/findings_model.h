// The findings of the project, one row per cause: how certain, what, where, between which runs.
#pragma once

#include "ui/models/project_snapshot.h"

#include <QAbstractTableModel>
#include <QStringList>

#include <vector>

namespace lockstep {

class FindingsModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { Confidence, Cause, Sentence, Step, Rank, Runs, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    // All of them count as those of the newest runs.
    void setFindings(std::vector<FindingRow> findings);
    // Those of pairs that newer runs have followed stand behind the others and raise no alarm.
    void setSnapshot(const ProjectSnapshot& snapshot);
    // "newer runs exist: two-02", empty for a finding of the newest runs.
    QString newer(int row) const;
    const FindingRow& finding(int row) const { return findings_.at(std::size_t(row)); }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    void take(std::vector<FindingRow> findings, QStringList newer);

    std::vector<FindingRow> findings_;
    QStringList newer_; // one per finding: the run that followed; empty: none
};

// How many findings are of pairs that no newer run has followed.
int currentFindings(const ProjectSnapshot& snapshot);

// "proven", translated.
QString confidenceWord(const std::string& confidence);

} // namespace lockstep
