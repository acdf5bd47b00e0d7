// From rows of one run and one quantity to what the Ranks page draws: values and distances per rank, spread, and the
// chosen rank beside the range of the others. Everything is computed in a pool thread; the GUI thread swaps pointers.
#pragma once

#include "ui/models/project_snapshot.h"
#include "ui/models/query_jobs.h"
#include "ui/models/series_loader.h"
#include "ui/plots/rank_fold.h"

#include <memory>

namespace lockstep {

class RanksFeed : public QObject
{
    Q_OBJECT

public:
    explicit RanksFeed(QObject* parent = nullptr);

    // Call again with every new snapshot: a run that ended is read a last time. Null: no run.
    void setRun(const RunEntry* run, Quantity quantity);
    void setChosenRank(int rank); // -1: none
    int chosenRank() const { return chosen_; }

    const RankPicture& picture() const { return *picture_; } // empty until something is read
    const RankRange& others() const { return others_; }      // null series until computed
    bool busy() const { return loader_.busy() || jobs_.busy(); }

Q_SIGNALS:
    void changed();
    void problem(const QString& sentence);

private:
    void append(std::vector<SeriesRows> rows, bool restart);
    void computeOthers();

    SeriesLoader loader_;
    std::shared_ptr<RankFold> fold_; // touched by jobs only
    std::shared_ptr<const RankPicture> picture_ = std::make_shared<const RankPicture>();
    RankRange others_;
    QString runId_, folder_;
    Quantity quantity_ = Quantity::Loss;
    int chosen_ = -1;
    bool othersJob_ = false;      // one is in flight: a fast live run does not pile them up
    bool othersOutdated_ = false; // rows came, or another rank was chosen, meanwhile
    QueryJobs jobs_;
};

} // namespace lockstep
