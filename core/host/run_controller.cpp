#include "core/host/run_controller.h"

#include "core/config/json.h"
#include "core/config/run_extras.h"
#include "core/host/launch_environment.h"
#include "core/host/rank_files.h"
#include "core/host/run_control.h"
#include "core/host/run_controller_rank.h"
#include "core/host/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace lockstep {

namespace {

constexpr int kDrainPatienceMs = 1000;
constexpr int kReportedGraceMs = 500; // a rank that has said Goodbye needs no more than this

// The project appends a number: "single-01", "ddp-w2-01".
std::string madeUpName(const RunConfig& config)
{
    return config.mode == "single" ? config.mode : fmt::format("{}-w{}", config.mode, config.world);
}

} // namespace

RunController::RunController(RunOptions options, QObject* parent)
    : QObject(parent),
      options_(std::move(options)),
      config_(options_.config),
      world_(options_.config.mode == "ddp" || options_.config.mode == "fsdp" ? options_.config.world : 1),
      replayed_(options_.config.mode == "twin" ? options_.config.world : 0)
{
    for (QTimer* timer : {&graceTimer_, &killTimer_})
        timer->setSingleShot(true);
    connect(&graceTimer_, &QTimer::timeout, this, &RunController::terminateRest);
    connect(&killTimer_, &QTimer::timeout, this, &RunController::killRest);
    connect(&silenceTimer_, &QTimer::timeout, this, &RunController::watchForSilence);
    connect(&folderWatcher_, &QFileSystemWatcher::directoryChanged, this, &RunController::watchForSwitch);
}

RunController::~RunController() = default;

Status RunController::start()
{
    Q_ASSERT(phase_ == Phase::Idle);
    // Ports first: a port in use must leave no half-made run behind.
    Result<ListenSocket> rendezvous = ListenSocket::open(options_.masterPort);
    if (!rendezvous)
        return rendezvous.error();
    rendezvous_ = std::make_unique<ListenSocket>(std::move(rendezvous).value());
    ingest_ = std::make_unique<IngestServer>(world_, static_cast<IngestSink&>(*this), replayed_);
    if (Status listening = ingest_->listen(); !listening)
        return listening;
    if (Status entered = enter(); !entered) {
        if (row_.entered())
            row_.abandon(entered.error());
        return entered;
    }
    if (options_.silenceMs > 0) {
        silenceTimer_.start(std::max(50, options_.silenceMs / 8));
        sinceSilenceWatched_.start();
    }
    folderWatcher_.addPath(QString::fromStdString(row_.info().folder));
    launch();
    return {};
}

Status RunController::enter()
{
    std::string json = toJson(options_.config);
    if (options_.restart.armed)
        json = withOnLoss(json, options_.restart.toOneProcess ? "one" : "survivors");
    const std::string& name = options_.config.name;
    if (Status entered =
            row_.enter(options_.projectFolder, name.empty() ? madeUpName(options_.config) : name, json);
        !entered)
        return entered;
    const RunInfo& info = row_.info();
    Result<RunWriter> writer = RunWriter::create(info.folder);
    if (!writer)
        return writer.error();
    recorder_ = std::make_unique<Recorder>(std::move(writer).value(), std::max(world_, replayed_),
                                           options_.config.resume.empty() ? "start" : "resume");
    connect(recorder_.get(), &Recorder::committed, this, &RunController::saveProgress);
    connect(recorder_.get(), &Recorder::failed, this, &RunController::onRecorderFailed);
    if (Status written = writeHostFile(info.folder); !written)
        return written;
    // The run's folder can be read without its project.
    const std::pair<const char*, std::string> properties[] = {
        {"config", info.configJson}, {"name", info.name}, {"mode", options_.config.mode}};
    for (const auto& [key, value] : properties)
        if (Status stored = recorder_->setProperty(key, value); !stored)
            return stored;
    return writeConfig();
}

// Every segment has a file of its own, so that it stays known what each was started with.
std::string RunController::configFile() const
{
    return segment_ == 1 ? row_.info().folder + "/config.json"
                         : fmt::format("{}/config.segment{}.json", row_.info().folder, segment_);
}

Status RunController::writeConfig() const
{
    return writeTextFile(configFile(), toJson(config_));
}

void RunController::launch()
{
    phase_ = Phase::Running;
    LaunchFacts facts;
    facts.runId = row_.info().id;
    facts.runFolder = row_.info().folder;
    facts.world = world_;
    facts.threads = config_.threads;
    facts.masterPort = rendezvous_->port();
    facts.storeFd = rendezvous_->fd();
    facts.connect = ingest_->address();
    facts.token = ingest_->token();
    ranks_.clear();
    ranks_.resize(std::size_t(world_));
    for (auto& rank : ranks_)
        rank = std::make_unique<Rank>();
    timeline(-1, "launch", monotonicNs(), fmt::format("{{\"world\":{}}}", world_));
    for (int rank = 0; rank < world_; ++rank)
        startRank(rank, facts);
    rendezvous_.reset(); // rank 0 holds its copy
}

void RunController::startRank(int rank, const LaunchFacts& facts)
{
    ProcessSpec spec;
    spec.program = QString::fromStdString(options_.workerPath);
    spec.arguments = {QStringLiteral("--config"), QString::fromStdString(configFile())};
    spec.environment = rankEnvironment(facts, rank);
    spec.logFile = QString::fromStdString(rankLogFile(row_.info().folder, rank));
    spec.inheritedFd = rank == 0 ? facts.storeFd : -1;
    auto process = std::make_unique<WorkerProcess>(std::move(spec));
    // Queued: a program that cannot be started reports its end from within start().
    connect(
        process.get(), &WorkerProcess::ended, this,
        [this, rank](const ProcessEnd& end) { onRankEnded(rank, end); }, Qt::QueuedConnection);
    ranks_[std::size_t(rank)]->process = std::move(process);
    ranks_[std::size_t(rank)]->process->start();
}

void RunController::requestStop(const std::string& requestedBy)
{
    if (phase_ == Phase::Idle || phase_ == Phase::Ended)
        return;
    switchTo_ = 0; // who stops the run does not want its next segment
    if (stopRequested_) {
        killRest();
        return;
    }
    stopRequested_ = true;
    event("stop", jsonObject({{"requested_by", requestedBy}}));
    if (phase_ != Phase::Running)
        return; // the ranks are being ended already
    phase_ = Phase::Stopping;
    for (const auto& rank : ranks_)
        rank->process->requestStop();
    killTimer_.start(options_.stopGraceMs);
}

void RunController::onRankEnded(int number, const ProcessEnd& end)
{
    Rank& rank = *ranks_[std::size_t(number)];
    ingest_->drain(number, kDrainPatienceMs); // its last frames may hold the reason
    rank.end = end;
    if (phase_ == Phase::Failing)
        noteEnd(number);
    const bool well = end.started && !end.signalled && end.code == 0 && rank.defect.empty();
    const bool stopped = rank.goodbye && rank.goodbye->kind == "stopped";
    if (!well && !stopped) {
        const bool first = phase_ != Phase::Failing;
        onRankFailed(number);
        if (first)
            noteEnd(number);
    } else {
        hurryIfNothingToWaitFor();
    }
    endIfAllEnded();
}

void RunController::onRankFailed(int number)
{
    if (phase_ == Phase::Running) {
        phase_ = Phase::Failing;
        event("error", jsonObject({{"sentence", fmt::format("Rank {} failed; the other ranks are being ended",
                                                            number)}}));
        graceTimer_.start(options_.reportGraceMs);
    } else if (phase_ == Phase::Stopping) {
        // The others may wait for this rank for ever; they had their request already.
        phase_ = Phase::Failing;
        killWithin(options_.reportGraceMs + options_.killGraceMs);
    }
    hurryIfNothingToWaitFor();
}

// Once the run is lost and every rank that still lives has said its last words, or has not begun to train and so has
// nothing to save, there is nothing to wait for.
void RunController::hurryIfNothingToWaitFor()
{
    if (phase_ != Phase::Failing)
        return;
    for (int rank = 0; rank < world_; ++rank)
        if (!ranks_[std::size_t(rank)]->end && !ranks_[std::size_t(rank)]->goodbye &&
            stepInProgress(rank) >= 0)
            return;
    graceTimer_.stop();
    killWithin(kReportedGraceMs);
}

void RunController::killWithin(int ms)
{
    if (!killTimer_.isActive() || killTimer_.remainingTime() > ms)
        killTimer_.start(ms);
}

void RunController::terminateRest()
{
    for (const auto& rank : ranks_) {
        if (rank->end)
            continue;
        rank->endedByHost = true;
        rank->process->requestStop();
    }
    killTimer_.start(options_.killGraceMs);
}

void RunController::killRest()
{
    for (const auto& rank : ranks_) {
        if (rank->end)
            continue;
        endedByDeadline_ = endedByDeadline_ || !rank->goodbye;
        rank->endedByHost = true;
        rank->process->kill();
    }
}

void RunController::endIfAllEnded()
{
    if (phase_ == Phase::Ended || phase_ == Phase::Idle)
        return;
    if (!std::all_of(ranks_.begin(), ranks_.end(), [](const auto& rank) { return rank->end.has_value(); }))
        return;
    graceTimer_.stop();
    killTimer_.stop();
    phase_ = Phase::Ended;
    const std::vector<RankEnd> ends = allFacts();
    const RunVerdict judged = verdict(ends);
    if (judged.state == RunState::Failed)
        noteVerdict(judged);
    if (!goOn(ends, judged))
        conclude(judged);
}

std::int64_t RunController::stepInProgress(int number) const
{
    const std::int64_t recorded = recorder_->lastStep(number);
    return std::max(ranks_[std::size_t(number)]->heartbeatStep, recorded < 0 ? -1 : recorded + 1);
}

RankEnd RunController::facts(int number) const
{
    const Rank& rank = *ranks_[std::size_t(number)];
    RankEnd end;
    end.rank = number;
    end.how = !rank.end->started    ? EndKind::NotStarted
              : rank.end->signalled ? EndKind::Signalled
                                    : EndKind::Exited;
    end.code = rank.end->code;
    end.endedNs = rank.end->monotonicNs;
    end.mustReport = config_.record != "off";
    end.endedByHost = rank.endedByHost;
    end.reason = rank.end->started ? rank.defect : rank.end->problem.toStdString();
    end.goodbye = rank.goodbye;
    end.stepAtEnd = stepInProgress(number);
    end.lastHeardNs = rank.lastHeardNs;
    end.connectionLost = rank.connectionLost;
    // A rank that ends without a word takes its last records along. No rank of DDP finishes a step without all the
    // others, so the farthest one tells how far this one was at least.
    if (end.stepAtEnd >= 0 && rank.defect.empty() && config_.mode == "ddp")
        for (int other = 0; other < world_; ++other)
            end.stepAtEnd = std::max(end.stepAtEnd, recorder_->lastStep(other));
    if (end.how != EndKind::Exited || end.code != 0) {
        end.lastLogLine = lastLogLine(rankLogFile(row_.info().folder, number));
        end.errorFile = readErrorFile(rankErrorFile(row_.info().folder, number));
    }
    return end;
}

std::vector<RankEnd> RunController::allFacts() const
{
    std::vector<RankEnd> ends;
    for (int rank = 0; rank < world_; ++rank)
        ends.push_back(facts(rank));
    return ends;
}

RunVerdict RunController::verdict(const std::vector<RankEnd>& ends) const
{
    return judgeRun(
        ends, {stopRequested_ || switchTo_ > 0, endedByDeadline_ ? options_.stopGraceMs / 1000.0 : 0.0});
}

void RunController::conclude(RunVerdict verdict)
{
    if (Status closed = recorder_->finish(); !closed)
        onRecorderFailed(closed.error());
    const Status saved = row_.close(verdict, *recorder_, recorderError_);
    failureKind_ = verdict.kind;
    tell(saved);
    Q_EMIT finished();
}

void RunController::onRecorderFailed(const Error& error)
{
    if (!recorderError_.empty())
        return;
    recorderError_ =
        Error{ErrorKind::RunFailed,
              fmt::format("Recording stopped after step {}, and with it the run", recorder_->committedStep()),
              fmt::format("{}: {}", error.what, error.why), error.fix}
            .sentence();
    if (phase_ == Phase::Running)
        requestStop("the recorder");
}

void RunController::saveProgress()
{
    if (phase_ == Phase::Ended)
        return;
    Q_EMIT progress();
    tell(row_.saveProgress(*recorder_));
}

void RunController::tell(const Status& saved)
{
    if (!saved)
        Q_EMIT notice(QString::fromStdString(saved.error().sentence()));
}

} // namespace lockstep
