// Puts the records of a run into its store: the only user of RunWriter while a run lives. Commits about ten
// times a second while records arrive, never when nothing arrives. One thread, the one of the event loop.
#pragma once

#include "core/store/run_writer.h"
#include "core/wire/codec.h"

#include <QObject>
#include <QTimer>

#include <vector>

namespace lockstep {

class Recorder : public QObject
{
    Q_OBJECT
public:
    // `reason` names the first segment ("start", "resume"); it begins at the first step that arrives.
    Recorder(RunWriter writer, int world, std::string reason, QObject* parent = nullptr);

    Status append(const StepRecord& record);
    Status append(const SamplesRecord& record);
    Status append(const TensorRecord& record);
    Status append(const EventRecord& record);
    Status setProperty(const std::string& key, const std::string& value); // see RunWriter
    // What comes from now on belongs to a new segment, which begins with the step after `resumedStep`. The state that was
    // loaded is not recorded again: the values of that step stay those of the segment that trained it.
    void beginSegment(int world, std::string reason, std::int64_t resumedStep);
    void heartbeat(const wire::Heartbeat& beat); // the latest of each rank is written with the next commit

    // The last words: commits, folds, makes the file immutable. Tries once more after an earlier failure.
    Status finish();

    std::int64_t lastStep(int rank) const;                        // received; -1: none
    std::int64_t committedStep() const { return committedStep_; } // of rank 0
    double committedLoss() const { return committedLoss_; }       // of rank 0 at that step; NaN: none

Q_SIGNALS:
    void committed();
    // A commit failed (disk full). Recording pauses: records are kept until finish().
    void failed(const lockstep::Error& error);

private:
    struct RankTail {
        std::int64_t step = -1;
        wire::Heartbeat beat;
        bool beatIsNew = false;
    };
    void wake();
    bool isKnown(std::int64_t step) const { return step <= resumedStep_; }
    Status begin(std::int64_t step);
    template<typename Record>
    Status appendOfStep(const Record& record);
    void commit();
    Status writeHeartbeats();
    void noteCommitted();

    RunWriter writer_;
    int world_;
    std::string reason_;
    std::vector<RankTail> ranks_;
    QTimer timer_;
    bool segmentBegun_ = false;
    std::int64_t resumedStep_ = -1; // -1: the first segment
    bool paused_ = false;
    double lastLoss_;
    std::int64_t committedStep_ = -1;
    double committedLoss_;
};

} // namespace lockstep
