// A user's own command as a run of a project: python or torchrun with lockstep_probe in front of the script. It enters the
// run, starts the command, records what its ranks send, ends it when a rank fails and its launcher does not, and finds the
// root cause. As RunController does for our own workers; here the ranks are children of the command, known only by their
// connections. Needs a running event loop in its thread.
#pragma once

#include "core/base/status.h"
#include "core/config/run_config.h"
#include "core/host/ingest_server.h"
#include "core/host/probe_command.h"
#include "core/host/recorder.h"
#include "core/host/root_cause.h"
#include "core/host/run_row.h"
#include "core/host/shard_join.h"
#include "core/host/worker_process.h"

#include <QTimer>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

struct CommandRunOptions {
    std::string projectFolder;
    QStringList command; // as the user would type it
    RunConfig
        config; // name, mode, world, threads, record; what the script says of itself is added when it runs
    ProbeOptions probe;
    int reportGraceMs = 5000; // after the first failure: for the launcher to end the other ranks
    int killGraceMs = 5000;   // then, after SIGTERM, until SIGKILL
    int stopGraceMs = 30000;  // after a stop request
};

class CommandRun : public QObject, private IngestSink
{
    Q_OBJECT
public:
    explicit CommandRun(CommandRunOptions options, QObject* parent = nullptr);
    // Kills what still runs; the project then finds the run interrupted.
    ~CommandRun() override;

    // After success the run is in the project and finished() will come.
    Status start();
    // SIGTERM to the command; a second request kills it.
    void requestStop(const std::string& requestedBy);

    const RunInfo& info() const { return row_.info(); }
    ErrorKind failureKind() const { return failureKind_; } // of use after finished()

Q_SIGNALS:
    void notice(const QString& text); // something to tell the user; the run goes on
    void finished();

private:
    struct Rank {
        std::optional<wire::Goodbye> goodbye;
        std::int64_t heartbeatStep = -1;
        std::int64_t closedNs = 0;
        std::string defect; // of its stream
        bool heard = false;
        bool afterFailure = false; // its connection ended when the run was lost already
    };

    Status openRecords();
    Status writeConfiguration();
    void launch(QStringList command, QProcessEnvironment environment);
    void onCommandEnded(const ProcessEnd& end);
    void onRankFailed();
    void takeConfiguration(const std::string& detail);
    void takeNote(const std::string& detail);
    void keep(int rank, const Status& stored);
    void stopRecording(const Error& error);
    RankEnd endOf(int rank, const ProcessEnd& command) const;
    void conclude(const ProcessEnd& command);
    bool isSound(int rank) const { return ranks_[std::size_t(rank)].defect.empty(); }

    void onHello(const wire::Hello& hello) override;
    void onStep(const StepRecord& record) override;
    void onSamples(const SamplesRecord& record) override;
    void onTensor(const TensorRecord& record) override;
    void onEvent(const EventRecord& record) override;
    void onHeartbeat(const wire::Heartbeat& heartbeat) override;
    void onGoodbye(const wire::Goodbye& goodbye) override;
    void onClosed(int rank) override;
    void onBroken(int rank, const Error& error) override;

    const CommandRunOptions options_;
    std::string configJson_; // grows by what the script says
    RunRow row_;
    std::unique_ptr<Recorder> recorder_;
    std::unique_ptr<IngestServer> ingest_;
    std::unique_ptr<WorkerProcess> process_;
    ShardJoin shards_;
    std::vector<Rank> ranks_;
    std::set<std::string> notes_;
    QTimer termTimer_, killTimer_;
    bool stopRequested_ = false;
    bool failing_ = false;
    bool killed_ = false; // by a deadline
    std::string recorderError_;
    ErrorKind failureKind_ = ErrorKind::RunFailed;
};

} // namespace lockstep
