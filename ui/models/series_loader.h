// Loads series of chosen runs off the GUI thread and keeps up with those that still grow: every run is asked for its data
// version ten times a second, and only rows after the last one seen are read. Rows arrive run by run in step order.
// GUI thread; readers live in the loader's own thread.
#pragma once

#include "core/base/quantity.h"
#include "core/store/run_reader.h"
#include "ui/models/query_jobs.h"

#include <QHash>
#include <QTimer>

#include <memory>
#include <vector>

namespace lockstep {

struct SeriesRequest {
    QString runId;
    QString folder; // of the run
    bool live = false;
    std::vector<Quantity> quantities; // of every rank, index 0

    bool operator==(const SeriesRequest&) const = default;
};

// New rows of one series, immutable.
struct SeriesRows {
    SeriesKey key;
    std::shared_ptr<const SeriesData> rows;
};

class SeriesLoader : public QObject
{
    Q_OBJECT

public:
    explicit SeriesLoader(QObject* parent = nullptr);
    ~SeriesLoader() override;

    // Runs that were asked for before in the same way keep what was delivered; others start from their first step.
    void setRequests(std::vector<SeriesRequest> requests);
    const std::vector<SeriesRequest>& requests() const { return requests_; }
    bool busy() const { return jobs_.busy(); }
    void cancel();

Q_SIGNALS:
    // `restart`: these are the first rows of this run; forget earlier ones.
    void rowsArrived(const QString& runId, const std::vector<lockstep::SeriesRows>& series, bool restart);
    void problem(const QString& runId, const QString& sentence);
    // Nothing is in flight any more.
    void idle();

private:
    struct Source; // one run's reader and how far it was read; touched only by jobs
    struct Answer;

    void poll();
    void read(const SeriesRequest& request);

    std::vector<SeriesRequest> requests_;
    QHash<QString, std::shared_ptr<Source>> sources_;
    QTimer timer_;
    QueryJobs jobs_;
};

} // namespace lockstep
