// The gates as a table, one row per phase: for the rail (title and second line) and for the Overview (all columns).
#pragma once

#include "ui/models/phases.h"

#include <QAbstractTableModel>

namespace lockstep {

class GatesModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { Phase, Gate, Checks, Deciding, Limit, Finished, ColumnCount };

    explicit GatesModel(QObject* parent = nullptr);

    void setSnapshot(const ProjectSnapshot& snapshot, bool projectOpen);
    void setJudging(const QString& phase); // empty: none
    const PhaseStatus& status(int row) const { return statuses_.at(std::size_t(row)); }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    void rebuild();

    ProjectSnapshot gatesOnly_; // gates, findings and runs of the last snapshot
    bool projectOpen_ = false;
    QString judging_;
    std::vector<PhaseStatus> statuses_;
};

} // namespace lockstep
