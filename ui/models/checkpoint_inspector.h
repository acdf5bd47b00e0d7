// Judges a checkpoint and reads its numbers off the GUI thread, newest request first: answers about an older checkpoint are
// dropped by generation. GUI thread only.
#pragma once

#include "ui/models/checkpoint_numbers.h"
#include "ui/models/checkpoint_verdict.h"
#include "ui/models/query_jobs.h"

#include <QElapsedTimer>

namespace lockstep {

class CheckpointInspector : public QObject
{
    Q_OBJECT

public:
    explicit CheckpointInspector(QObject* parent = nullptr);

    void inspect(const CheckpointTreePtr& tree); // null: stop
    bool busy() const { return verdictJobs_.busy() || numberJobs_.busy(); }

Q_SIGNALS:
    // Twice for large files: the structure first, then with checksums.
    void verdictReady(const CheckpointVerdictPtr& verdict);
    void numbersReady(const NumbersBatchPtr& batch);
    void numbersFinished(std::uint64_t bytes, double seconds);

private:
    void readFrom(const CheckpointTreePtr& tree, std::size_t first);

    QueryJobs verdictJobs_, numberJobs_; // a lane each: checksums of a large file take seconds
    QElapsedTimer clock_;
    std::uint64_t bytes_ = 0;
};

} // namespace lockstep
