// The recorded values of one rank at one step beside the median of all ranks there. Read off the GUI thread, only the
// values of that step; a newer cell outdates an older one that is still being read. GUI thread.
#pragma once

#include "core/base/quantity.h"
#include "ui/models/query_jobs.h"

#include <QAbstractTableModel>

#include <memory>
#include <span>
#include <vector>

namespace lockstep {

struct RankCell {
    QString folder; // of the run
    int ranks = 0;
    int rank = 0;
    qint64 step = 0;

    bool operator==(const RankCell&) const = default;
};

struct RankCellRow {
    Quantity quantity = Quantity::Loss;
    bool present = false; // this rank recorded it at this step
    std::uint64_t bits = 0;
    double median = 0; // of the ranks that recorded a finite value; unused for fingerprints
    int equal = 0;     // ranks with the same bits, this one included
    int recorded = 0;  // ranks with a value
};

class RanksCellModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { What, Value, Others, ColumnCount };

    explicit RanksCellModel(QObject* parent = nullptr);

    void setCell(const RankCell& cell);
    void clear();
    const std::vector<RankCellRow>& rows() const { return rows_; }
    bool busy() const { return jobs_.busy(); }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

Q_SIGNALS:
    void problem(const QString& sentence);

private:
    struct Source; // the run's reader; touched only by jobs
    struct Answer;

    QString text(const RankCellRow& row, int column) const;

    RankCell cell_;
    bool any_ = false;
    std::vector<RankCellRow> rows_;
    std::shared_ptr<Source> source_;
    QueryJobs jobs_;
};

} // namespace lockstep
