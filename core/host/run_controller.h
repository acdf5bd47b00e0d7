// One run from start to verdict: enters it in the project, starts the ranks, records what they send, ends the
// others when one fails, finds the root cause and writes the final state. Needs a running event loop in its
// thread; nothing polls.
//
//   Running -- a stop request --> Stopping: ranks finish their step and save
//   Running, Stopping -- a rank fails --> Failing: the others report, then get SIGTERM, then SIGKILL
//   any of them -- all processes have ended --> Ended: the verdict is in the project
//   Failing -- all have ended, the switch is armed, a checkpoint is there --> Running: the next segment of the same run,
//   on the ranks that are left; Stopping on requestSwitch() leads there too
#pragma once

#include "core/base/status.h"
#include "core/config/run_config.h"
#include "core/host/host_drill.h"
#include "core/host/ingest_server.h"
#include "core/host/listen_socket.h"
#include "core/host/recorder.h"
#include "core/host/root_cause.h"
#include "core/host/run_row.h"
#include "core/host/worker_process.h"

#include <QElapsedTimer>
#include <QFileSystemWatcher>
#include <QTimer>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct LaunchFacts;

// The escape hatch: what happens when ranks are lost.
struct RestartPolicy {
    bool armed = false;
    bool toOneProcess = false; // rather than on as many ranks as are left
    int most = 5;              // restarts of one run; after that the cause comes back every time
};

struct RunOptions {
    std::string projectFolder;
    RunConfig config;
    std::string workerPath;         // see findWorker()
    std::uint16_t masterPort = 0;   // of the ranks' rendezvous; 0: a free one
    int reportGraceMs = 3000;       // after the first failure: for the other ranks to report
    int killGraceMs = 5000;         // then, after SIGTERM, until SIGKILL
    int stopGraceMs = 30000;        // after a stop request: for a rank to finish its step and save
    int silenceMs = 0;              // a rank without a sign of life for so long is ended as hanging; 0: never
    std::optional<HostDrill> drill; // something to break on purpose
    RestartPolicy restart;
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
    // Ranks finish their step, save and end; the run goes on with `world` ranks as its next segment, with the same global
    // batch. Also asked for through the run's folder (run_control.h). Errors: Usage for a number of ranks that does not
    // divide the run's, Busy where the run is ending.
    Status requestSwitch(int world);

    const RunInfo& info() const { return row_.info(); }
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
    std::string configFile() const;
    Status writeConfig() const;
    void launch();
    void startRank(int rank, const LaunchFacts& facts);
    void onRankEnded(int rank, const ProcessEnd& end);
    void onRankFailed(int rank);
    void onRecorderFailed(const Error& error);
    void saveProgress();
    void tell(const Status& saved); // of the run's row: a notice where it could not be kept
    void terminateRest();
    void killWithin(int ms); // unless it comes sooner anyway
    void killRest();
    void hurryIfNothingToWaitFor();
    void endIfAllEnded();
    std::vector<RankEnd> allFacts() const;
    RunVerdict verdict(const std::vector<RankEnd>& ends) const;
    // True: the run goes on as another segment.
    bool goOn(const std::vector<RankEnd>& ends, const RunVerdict& verdict);
    Status beginSegment(int world, const std::string& reason, const std::string& checkpoint);
    void watchForSwitch();
    void watchForSilence();
    void conclude(RunVerdict verdict);
    std::int64_t stepInProgress(int rank) const; // -1: training has not begun
    RankEnd facts(int rank) const;
    void event(const std::string& kind, const std::string& detail);
    // Who knew what when: events with the moment in which it was seen, not the one in which it was written.
    void timeline(int rank, const std::string& kind, std::int64_t ns, const std::string& detail);
    void noteEnd(int rank);
    void noteGoodbye(const wire::Goodbye& goodbye);
    void noteVerdict(const RunVerdict& verdict);
    void noteDrill(const char* act);
    void drillWhenDue(const StepRecord& record);
    void drill();
    void watchForStop();
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
    RunConfig config_;   // of the segment
    int world_;          // its processes
    const int replayed_; // ranks that a twin's one process reports; 0: every process reports only itself
    Phase phase_ = Phase::Idle;
    bool stopRequested_ = false;
    int switchTo_ =
        0; // ranks of the next segment, while the ranks of this one stop for it; 0: none asked for
    int segment_ = 1;
    bool endedByDeadline_ = false; // ranks did not stop in time
    bool peerTimedOut_ = false;    // a rank has waited for another in vain
    ErrorKind failureKind_ = ErrorKind::RunFailed;
    std::string recorderError_;
    RunRow row_;
    std::unique_ptr<Recorder> recorder_;
    std::unique_ptr<IngestServer> ingest_;
    std::unique_ptr<ListenSocket> rendezvous_;
    std::vector<std::unique_ptr<Rank>> ranks_;
    QTimer graceTimer_;                // Failing: until SIGTERM
    QTimer killTimer_;                 // until SIGKILL
    QFileSystemWatcher folderWatcher_; // for requestSwitch() from another process
    QTimer silenceTimer_;
    QElapsedTimer sinceSilenceWatched_;
    QTimer drillTimer_;
    bool drillBegun_ = false;
};

} // namespace lockstep
