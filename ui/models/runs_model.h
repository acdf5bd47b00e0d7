// The runs of a project, newest first, as a table. Rows are inserted, removed and changed one by one, so selections and
// scroll positions survive a run that reports ten times a second.
#pragma once

#include "ui/models/project_snapshot.h"
#include "ui/models/run_verdict.h"

#include <QAbstractTableModel>
#include <QSet>

namespace lockstep {

class RunsModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column {
        Mark,
        StateColumn,
        Name,
        Mode,
        World,
        Backend,
        Steps,
        LastLoss,
        DivergesAt,
        Against,
        Time,
        Started,
        Config,
        ColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;

    void setSnapshot(const ProjectSnapshotPtr& snapshot);
    void setVerdicts(const RunVerdicts& verdicts);
    void setMarks(const QString& runA, const QString& runB);
    // Hidden runs stay in the project; undo shows them again.
    void setHidden(const QSet<QString>& hidden);

    const RunEntry& run(int row) const { return runs_.at(std::size_t(row)); }
    int rowOf(const QString& id) const; // -1: not there
    const RunVerdicts& verdicts() const { return verdicts_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QVariant display(const RunEntry& entry, int column) const;
    QVariant sortKey(const RunEntry& entry, int column) const;
    void sync(const std::vector<RunEntry>& target);

    ProjectSnapshotPtr snapshot_;
    std::vector<RunEntry> runs_;
    RunVerdicts verdicts_;
    QSet<QString> hidden_;
    QString runA_, runB_;
};

// State of a run as shown: a finished run that parts from its reference is "diverged".
State runState(const RunEntry& entry, const RunVerdict* verdict);
QString runStateText(const RunEntry& entry, const RunVerdict* verdict);
// "ddp", "twin, B6 k=2".
QString runModeText(const RunConfig& config);
std::int64_t runElapsedMs(const RunEntry& entry);

} // namespace lockstep
