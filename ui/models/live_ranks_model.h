// What every rank of one run is doing now: step, its own loss and gradient norm, where its last step went, its parameters'
// fingerprint and its last sign of life. Looks twice a second while the run records; a run that is over is read once. Reads
// off the GUI thread, only the newest step of each rank. GUI thread.
#pragma once

#include "ui/models/project_snapshot.h"
#include "ui/models/query_jobs.h"
#include "ui/models/roles.h"

#include <QAbstractTableModel>
#include <QTimer>

#include <array>
#include <memory>
#include <vector>

namespace lockstep {

struct LiveRank {
    // Parts of a step in the order in which they happen.
    enum Part { Data, Forward, Backward, Wait, Optimizer, PartCount };

    int rank = 0;
    qint64 step = -1; // the last committed one; -1: none
    // NaN: not recorded at that step.
    double loss = 0, gradNorm = 0, seconds = 0;
    // Seconds; 0 where not recorded. The recorded backward contains the wait for the reduction, here it does not.
    std::array<double, PartCount> parts{};
    quint64 parameters =
        0; // fingerprint at the newest step that all ranks have, so that it can be compared; 0: none
    qint64 heartbeatNs = -1; // CLOCK_MONOTONIC of its machine; -1: none

    bool operator==(const LiveRank&) const = default;
};

class LiveRanksModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column {
        Rank,
        StateColumn,
        Step,
        Loss,
        GradNorm,
        Split,
        Milliseconds,
        Parameters,
        LastSeen,
        ColumnCount
    };
    // QVariantList of LiveRank::PartCount shares of the step, together at most 1. Of the column Split.
    static constexpr int kSharesRole = Qt::UserRole + 100;

    explicit LiveRanksModel(QObject* parent = nullptr);
    ~LiveRanksModel() override;

    // Call again with every new snapshot. Null: no run.
    void setRun(const RunEntry* run);
    const std::vector<LiveRank>& ranks() const { return ranks_; }
    bool busy() const { return jobs_.busy(); }
    static QString partTitle(LiveRank::Part part);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

Q_SIGNALS:
    void problem(const QString& sentence); // empty: it can be read again

private:
    struct Source; // the run's reader; touched only by jobs
    struct Answer;

    void look();
    void take(Answer answer);
    bool partsFromOthers(const LiveRank& rank) const; // its parameters, where they have to be equal
    State stateOf(const LiveRank& rank) const;
    QString stateText(const LiveRank& rank) const;
    QString text(const LiveRank& rank, int column) const;
    double secondsSinceSeen(const LiveRank& rank) const; // below 0: not known

    RunInfo run_;
    qint64 steps_ = 0;      // planned; 0: not known
    bool replicas_ = false; // ddp: parameters have to be equal on all ranks
    std::vector<LiveRank> ranks_;
    qint64 nowNs_ = 0; // when the rows were read
    std::shared_ptr<Source> source_;
    QTimer timer_;
    QueryJobs jobs_;
};

} // namespace lockstep
