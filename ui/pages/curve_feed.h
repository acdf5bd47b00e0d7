// From rows of the store to what the plots draw: keeps an immutable snapshot per series, the spread over ranks, and the
// difference of every run to the reference. Everything is computed in a pool thread; the GUI thread only swaps pointers.
#pragma once

#include "ui/models/project_snapshot.h"
#include "ui/models/query_jobs.h"
#include "ui/models/series_loader.h"
#include "ui/plots/plot_mapping.h"
#include "ui/plots/series_math.h"

#include <QHash>
#include <QStringList>

#include <map>
#include <memory>

namespace lockstep {

struct RunCurves {
    SeriesSnapshot::Ptr seen; // samples of all ranks up to each step; null: not recorded
    std::map<SeriesKey, SeriesSnapshot::Ptr> series;
    std::map<Quantity, RankSpread> spread; // with one rank: min = max = mean = that rank
    std::map<Quantity, std::vector<int>> ranks;

    SeriesSnapshot::Ptr mean(Quantity quantity) const
    {
        const auto it = spread.find(quantity);
        return it == spread.end() ? nullptr : it->second.mean;
    }
    SeriesSnapshot::Ptr rank(Quantity quantity, int rank) const
    {
        const auto it = series.find({rank, quantity, 0});
        return it == series.end() ? nullptr : it->second;
    }
};
using RunCurvesPtr = std::shared_ptr<const RunCurves>;

class CurveFeed : public QObject
{
    Q_OBJECT

public:
    explicit CurveFeed(std::vector<Quantity> quantities, QObject* parent = nullptr);

    // Call again with every new snapshot of the project: runs that ended are read a last time.
    void setRuns(const ProjectSnapshot& snapshot, const QStringList& runIds);
    // What the series lie over from the next setRuns() on. XUnit::Samples needs runs that recorded the samples seen, others
    // stay empty.
    void setXUnit(XUnit unit);
    XUnit xUnit() const { return unit_; }
    // Between steps and what the series lie over, by the records of this run; the step itself where that is not known.
    qint64 xOfStep(const QString& runId, qint64 step) const;
    qint64 stepOfX(const QString& runId, qint64 x) const;
    // Differences of `quantity` (means over ranks) of all runs to this one; empty: none.
    void setReference(const QString& runId, Quantity quantity);
    QString reference() const { return reference_; }

    RunCurvesPtr run(const QString& runId) const { return runs_.value(runId); } // null: nothing read yet
    SeriesSnapshot::Ptr delta(const QString& runId) const { return deltas_.value(runId); }
    double symlogThreshold() const { return threshold_; }
    bool busy() const { return loader_.busy() || jobs_.busy(); }
    void cancel();

Q_SIGNALS:
    void changed();
    void problem(const QString& runId, const QString& sentence);

private:
    struct Builder; // job side of one run

    void take(const QString& runId, const std::shared_ptr<Builder>& builder, RunCurvesPtr curves);
    void append(const QString& runId, std::vector<SeriesRows> rows, bool restart);
    void computeDeltas();

    std::vector<Quantity> quantities_;
    SeriesLoader loader_;
    QHash<QString, std::shared_ptr<Builder>> builders_;
    QHash<QString, RunCurvesPtr> runs_;
    QHash<QString, SeriesSnapshot::Ptr> deltas_;
    QString reference_;
    Quantity deltaQuantity_ = Quantity::Loss;
    XUnit unit_ = XUnit::Step;
    double threshold_ = 1e-6;
    bool deltaJob_ = false;       // one is in flight: a fast live run does not pile them up
    bool deltasOutdated_ = false; // rows came meanwhile
    QueryJobs jobs_;
};

} // namespace lockstep
