// The open project: watches lockstep.db ten times a second and publishes a new snapshot when something changed, so runs
// started in a terminal show up too. Reads only. GUI thread; the store itself lives in the pool thread.
#pragma once

#include "ui/models/project_snapshot.h"
#include "ui/models/query_jobs.h"

#include <QTimer>

namespace lockstep {

class ProjectModel : public QObject
{
    Q_OBJECT

public:
    explicit ProjectModel(QObject* parent = nullptr);
    ~ProjectModel() override;

    // Answers with opened() or openFailed(). The project open before stays until then.
    void open(const QString& folder);
    void close();
    // Reads again without waiting for the next look.
    void refresh();

    bool isOpen() const { return snapshot_ != nullptr; }
    QString folder() const { return folder_; }
    // Never null: an empty snapshot while nothing is open.
    ProjectSnapshotPtr snapshot() const;

Q_SIGNALS:
    void opened();
    void openFailed(const QString& folder, const QString& sentence);
    void closed();
    // After opened(), and whenever something changed.
    void changed(const lockstep::ProjectSnapshotPtr& snapshot);
    // The store could not be read this time; empty when it can be read again.
    void problem(const QString& sentence);

private:
    struct Source; // the store and what was read last; touched only by jobs
    struct Answer;

    void look();
    void deliver(Answer answer);

    std::shared_ptr<Source> source_;
    QString folder_;
    ProjectSnapshotPtr snapshot_;
    QString problem_;
    QTimer timer_;
    QueryJobs jobs_;
};

} // namespace lockstep
