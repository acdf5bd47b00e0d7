// "Equal on all ranks?" of one run as a table: parameters, optimizer state, buffers, sample ids, generators. Live while
// the run records. GUI thread; values are read and compared off it.
#pragma once

#include "ui/models/project_snapshot.h"
#include "ui/models/query_jobs.h"
#include "ui/models/ranks_equality.h"
#include "ui/models/series_loader.h"

#include <QAbstractTableModel>

#include <memory>
#include <optional>

namespace lockstep {

class RanksEqualityModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { What, Verdict, Detail, ColumnCount };

    explicit RanksEqualityModel(QObject* parent = nullptr);

    // Call again with every new snapshot: a run that ended is read a last time. Null: no run.
    void setRun(const RunEntry* run);
    const std::vector<RankEquality>& rows() const { return rows_; }
    // The earliest step that breaks a rule.
    std::optional<RankEquality> firstBroken() const;
    bool busy() const { return loader_.busy() || jobs_.busy(); }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

Q_SIGNALS:
    void changed();
    void problem(const QString& sentence);

private:
    void scan(std::vector<SeriesRows> rows, bool restart, bool ended);
    void setRows(std::vector<RankEquality> rows);
    QString text(const RankEquality& row, int column) const;

    SeriesLoader loader_;
    std::shared_ptr<RanksEqualityScan> scan_; // touched by jobs only
    std::vector<RankEquality> rows_;
    QString runId_, folder_;
    int ranks_ = 0;
    bool live_ = false, sharded_ = false;
    QueryJobs jobs_;
};

// Of a sentence: "parameters differ on rank 3 from step 41".
QString equalitySentence(const RankEquality& row);
// Why that matters and what to look at. Of a broken row.
QString equalityExplanation(const RankEquality& row);

} // namespace lockstep
