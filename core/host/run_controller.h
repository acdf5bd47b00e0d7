// One run from start to verdict: enters it in the project, starts the ranks, records what they send, ends the
// others when one fails, finds the root cause and writes the final state. Needs a running event loop in its
// thread; nothing polls.
//
//   Running -- a stop request --> Stopping: ranks finish their step and save
//   Running, Stopping -- a rank fails --> Failing: the others report, then get SIGTERM, then SIGKILL
//   any of them -- all processes have ended --> Ended: the verdict is in the project
#pragma once

#include "core/base/status.h"
#include "core/config/run_config.h"
#include "core/host/ingest_server.h"
#include "core/host/listen_socket.h"
#include "core/host/recorder.h"
#include "core/host/root_cause.h"
#include "core/host/worker_process.h"
#include "core/store/project_store.h"

#include <QElapsedTimer>
#include <QTimer>

#include <memory>
#include <string>
#include <vector>

namespace lockstep {

struct LaunchFacts;

struct RunOptions {
    std::string projectFolder;
    RunConfig config;
    std::string workerPath;       // see findWorker()
    std::uint16_t masterPort = 0; // of the ranks' rendezvous; 0: a free one
    int reportGraceMs = 3000;     // after the first failure: for the other ranks to report
    int killGraceMs = 5000;       // then, after SIGTERM, until SIGKILL
    int stopGraceMs = 30000;      // after a stop request: for a rank to finish its step and save
};

class RunController : public QObject, private IngestSink
{
    Q_OBJECT
public:
    explicit RunController(RunOptions options, QObject* parent = nullptr);
    // Kills what still runs; the project then finds the run interrupted.
    ~RunController() override;

    // After success the run is in the project and its ranks are starting; finished() will come. After an
    // error nothing runs, and a run that was already entered is marked failed.
    Status start();
    // Ranks finish their step, save and end. A second request kills them.
    void requestStop(const std::string& requestedBy);

    const RunInfo& info() const { return info_; }
    // Of use after finished(): Environment if the run could not begin.
    ErrorKind failureKind() const { return failureKind_; }
    // Of rank 0, as far as it can be read from the store.
    std::int64_t committedStep() const { return recorder_ ? recorder_->committedStep() : -1; }
    double committedLoss() const { return recorder_ ? recorder_->committedLoss() : 0; }

Q_SIGNALS:
    void progress();                  // new steps are committed
    void notice(const QString& text); // something to tell the user although the run goes on
    void finished();

private:
    enum class Phase { Idle, Running, Stopping, Failing, Ended };
    struct Rank;

    Status enter();
    void launch();
    void startRank(int rank, const LaunchFacts& facts);
    void onRankEnded(int rank, const ProcessEnd& end);
    void onRankFailed(int rank);
    void onRecorderFailed(const Error& error);
    void saveProgress();
    void terminateRest();
    void killWithin(int ms); // unless it comes sooner anyway
    void killRest();
    void hurryIfNothingToWaitFor();
    void endIfAllEnded();
    void conclude();
    std::int64_t stepInProgress(int rank) const; // -1: training has not begun
    RankEnd facts(int rank) const;
    void event(const std::string& kind, const std::string& detail);
    // The process that reports this rank; -1 stays -1 (the host itself).
    int processOf(int rank) const { return replayed_ > 0 && rank > 0 ? 0 : rank; }
    bool isSound(int rank) const;
    void keep(int rank, const Status& stored);

    void onHello(const wire::Hello& hello) override;
    void onStep(const StepRecord& record) override;
    void onSamples(const SamplesRecord& record) override;
    void onTensor(const TensorRecord& record) override;
    void onEvent(const EventRecord& record) override;
    void onHeartbeat(const wire::Heartbeat& heartbeat) override;
    void onGoodbye(const wire::Goodbye& goodbye) override;
    void onClosed(int rank) override;
    void onBroken(int rank, const Error& error) override;

    const RunOptions options_;
    const int world_;    // processes
    const int replayed_; // ranks that a twin's one process reports; 0: every process reports only itself
    Phase phase_ = Phase::Idle;
    bool stopRequested_ = false;
    bool endedByDeadline_ = false; // ranks did not stop in time
    ErrorKind failureKind_ = ErrorKind::RunFailed;
    std::string recorderError_;
    RunInfo info_;
    std::unique_ptr<ProjectStore> project_;
    std::unique_ptr<Recorder> recorder_;
    std::unique_ptr<IngestServer> ingest_;
    std::unique_ptr<ListenSocket> rendezvous_;
    std::vector<std::unique_ptr<Rank>> ranks_;
    QTimer graceTimer_; // Failing: until SIGTERM
    QTimer killTimer_;  // until SIGKILL
    QElapsedTimer sinceProgressSaved_;
};

} // namespace lockstep
