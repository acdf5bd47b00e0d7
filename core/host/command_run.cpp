#include "core/host/command_run.h"

#include "core/config/json.h"
#include "core/host/rank_files.h"
#include "core/host/run_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>

namespace lockstep {

namespace {

constexpr int kDrainPatienceMs = 1000;

// `detail`.name of an event, or nothing.
std::optional<std::string> memberOf(const std::string& detail, const char* name)
{
    const Result<rapidjson::Document> json = parseJson(detail, "the event");
    if (!json || !json->IsObject() || !json->HasMember(name) || !json.value()[name].IsString())
        return std::nullopt;
    return std::string(json.value()[name].GetString());
}

} // namespace

CommandRun::CommandRun(CommandRunOptions options, QObject* parent)
    : QObject(parent),
      options_(std::move(options)),
      configJson_(withScriptCommand(toJson(options_.config),
                                    describedCommand(options_.command, options_.probe, options_.config.world,
                                                     options_.config.mode != "single"))),
      shards_(options_.config.world),
      ranks_(std::size_t(options_.config.world))
{
    for (QTimer* timer : {&termTimer_, &killTimer_})
        timer->setSingleShot(true);
    connect(&termTimer_, &QTimer::timeout, this, [this] {
        process_->requestStop();
        killTimer_.start(options_.killGraceMs);
    });
    connect(&killTimer_, &QTimer::timeout, this, [this] {
        killed_ = true;
        process_->kill();
    });
}

CommandRun::~CommandRun() = default;

Status CommandRun::start()
{
    Result<QStringList> command = probedCommand(options_.command);
    if (!command)
        return command.error();
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    if (Status added = addProbe(environment, options_.probe); !added)
        return added;
    ingest_ = std::make_unique<IngestServer>(options_.config.world, static_cast<IngestSink&>(*this));
    if (Status listening = ingest_->listen(); !listening)
        return listening;
    if (Status entered = row_.enter(options_.projectFolder, options_.config.name, configJson_); !entered)
        return entered;
    if (Status opened = openRecords(); !opened) {
        row_.abandon(opened.error());
        return opened;
    }
    launch(std::move(command).value(), std::move(environment));
    return {};
}

Status CommandRun::openRecords()
{
    const RunInfo& info = row_.info();
    Result<RunWriter> writer = RunWriter::create(info.folder);
    if (!writer)
        return writer.error();
    recorder_ = std::make_unique<Recorder>(std::move(writer).value(), options_.config.world, "start");
    connect(recorder_.get(), &Recorder::failed, this, &CommandRun::stopRecording);
    connect(recorder_.get(), &Recorder::committed, this, [this] { keep(-1, row_.saveProgress(*recorder_)); });
    if (Status written = writeHostFile(info.folder); !written)
        return written;
    if (Status named = recorder_->setProperty("name", info.name); !named)
        return named;
    return writeConfiguration();
}

Status CommandRun::writeConfiguration()
{
    if (Status stored = recorder_->setProperty("config", configJson_); !stored)
        return stored;
    if (const std::optional<std::string> mode = memberOf(configJson_, "mode"))
        if (Status stored = recorder_->setProperty("mode", *mode); !stored)
            return stored;
    return row_.setConfig(configJson_);
}

void CommandRun::launch(QStringList command, QProcessEnvironment environment)
{
    const auto set = [&](const char* name, const std::string& value) {
        environment.insert(QString::fromLatin1(name), QString::fromStdString(value));
    };
    set("LOCKSTEP_CONNECT", ingest_->address());
    set("LOCKSTEP_TOKEN", ingest_->token());
    set("LOCKSTEP_RUN_DIR", row_.info().folder);
    ProcessSpec spec;
    spec.program = command.takeFirst();
    spec.arguments = std::move(command);
    spec.environment = std::move(environment);
    // All that the command prints; torchrun passes on what its ranks print.
    spec.logFile = QString::fromStdString(rankLogFile(row_.info().folder, 0));
    process_ = std::make_unique<WorkerProcess>(std::move(spec));
    connect(process_.get(), &WorkerProcess::ended, this, &CommandRun::onCommandEnded, Qt::QueuedConnection);
    process_->start();
}

void CommandRun::requestStop(const std::string& requestedBy)
{
    if (!process_ || !process_->isRunning())
        return;
    if (stopRequested_) {
        process_->kill();
        return;
    }
    stopRequested_ = true;
    EventRecord event;
    event.step = std::max<std::int64_t>(0, recorder_->lastStep(0));
    event.kind = "stop";
    event.monotonicNs = monotonicNs();
    event.detail = jsonObject({{"requested_by", requestedBy}});
    keep(-1, recorder_->append(event));
    process_->requestStop();
    killTimer_.start(options_.stopGraceMs);
}

void CommandRun::onCommandEnded(const ProcessEnd& end)
{
    termTimer_.stop();
    killTimer_.stop();
    for (int rank = 0; rank < options_.config.world; ++rank)
        ingest_->drain(rank, kDrainPatienceMs); // its last frames may hold the reason
    conclude(end);
}

// The launcher sees that a rank is gone and ends the others; one that does not is helped.
void CommandRun::onRankFailed()
{
    if (failing_ || stopRequested_)
        return;
    failing_ = true;
    termTimer_.start(options_.reportGraceMs);
}

RankEnd CommandRun::endOf(int number, const ProcessEnd& command) const
{
    const Rank& rank = ranks_[std::size_t(number)];
    RankEnd end;
    end.rank = number;
    end.mustReport = options_.config.record != "off";
    end.endedNs = rank.closedNs > 0 ? rank.closedNs : command.monotonicNs;
    end.goodbye = rank.goodbye;
    end.stepAtEnd = std::max(rank.heartbeatStep, recorder_->lastStep(number));
    end.lastLogLine = lastLogLine(rankLogFile(row_.info().folder, 0));
    const int code = command.signalled ? 128 + command.code : command.code;
    if (!command.started) {
        end.code = 127; // as a shell reports it
        end.reason = Error{ErrorKind::Environment, "The command cannot be started",
                           fmt::format("{}: {}", options_.command.value(0).toStdString(),
                                       command.problem.toStdString()),
                           "Check the name of the program"}
                         .sentence();
    } else if (!rank.defect.empty()) {
        end.reason = rank.defect;
    } else if (rank.goodbye) {
        end.code = rank.goodbye->exitCode;
    } else if (stopRequested_) {
        end.how = EndKind::Signalled;
        end.code = SIGTERM;
    } else if (rank.heard) {
        end.code = code;
        end.endedByHost = rank.afterFailure;
        end.reason = Error{ErrorKind::RunFailed,
                           fmt::format("Rank {} ended {} without a last report", number,
                                       end.stepAtEnd < 0 ? std::string("before its first step")
                                                         : fmt::format("after step {}", end.stepAtEnd)),
                           ranks_.size() > 1 ? std::string("it was killed, or crashed in native code")
                           : command.signalled
                               ? fmt::format("signal {} ended it ({})", command.code, strsignal(command.code))
                               : fmt::format("the command ended with exit code {}", command.code),
                           "Read rank0.log in the run's folder"}
                         .sentence();
    } else if (end.mustReport) {
        end.code = code;
        end.endedByHost = number > 0; // rank 0 speaks for a command that fails before it trains
        end.reason =
            Error{ErrorKind::RunFailed, fmt::format("Rank {} never reported", number),
                  code != 0
                      ? fmt::format("the command ended with exit code {}: \"{}\"", code, end.lastLogLine)
                      : std::string("the command ended well, but no process of it was this rank"),
                  code != 0 ? "Read rank0.log in the run's folder"
                            : "Say with --world how many ranks the command starts"}
                .sentence();
    } else {
        end.code = code;
    }
    return end;
}

void CommandRun::conclude(const ProcessEnd& command)
{
    std::vector<RankEnd> ends;
    for (int rank = 0; rank < options_.config.world; ++rank)
        ends.push_back(endOf(rank, command));
    RunVerdict verdict = judgeRun(ends, {stopRequested_, killed_ ? options_.stopGraceMs / 1000.0 : 0.0});
    if (verdict.state == RunState::Finished && (command.signalled || command.code != 0)) {
        verdict.state = RunState::Failed;
        verdict.firstFailure = {
            -1, recorder_->lastStep(0),
            Error{ErrorKind::RunFailed,
                  fmt::format("The command ended with {} {} although all ranks had finished",
                              command.signalled ? "signal" : "exit code", command.code),
                  ends.front().lastLogLine, "Read rank0.log in the run's folder"}
                .sentence()};
    }
    if (Status closed = recorder_->finish(); !closed)
        stopRecording(closed.error());
    const Status saved = row_.close(verdict, *recorder_, recorderError_);
    failureKind_ = verdict.kind;
    if (!saved)
        Q_EMIT notice(QString::fromStdString(saved.error().sentence()));
    Q_EMIT finished();
}

void CommandRun::stopRecording(const Error& error)
{
    if (!recorderError_.empty())
        return;
    recorderError_ = error.sentence();
    requestStop("the recorder");
}

void CommandRun::keep(int rank, const Status& stored)
{
    if (stored)
        return;
    if (rank < 0 || stored.error().kind != ErrorKind::Input)
        stopRecording(stored.error());
    else
        onBroken(rank, stored.error());
}

// What the script says of itself, over what the command line said.
void CommandRun::takeConfiguration(const std::string& detail)
{
    Result<rapidjson::Document> whole = parseJson(configJson_, "The configuration of the run");
    const Result<rapidjson::Document> said = parseJson(detail, "The configuration that the script reports");
    if (!whole || !said || !said->IsObject()) {
        Q_EMIT notice(whole && said
                          ? QStringLiteral("The configuration that the script reports is no JSON object")
                          : QString::fromStdString((whole ? said : whole).error().sentence()));
        return;
    }
    for (const auto& member : said->GetObject()) {
        rapidjson::Value name(member.name, whole->GetAllocator());
        rapidjson::Value value(member.value, whole->GetAllocator());
        whole->RemoveMember(name);
        whole->AddMember(name, value, whole->GetAllocator());
    }
    const std::string text = jsonText(whole.value());
    if (const Result<RunConfig> usable = runConfigFromJson(text); !usable) {
        Q_EMIT notice(QString::fromStdString(usable.error().sentence()));
        return;
    }
    configJson_ = text;
    keep(-1, writeConfiguration());
}

void CommandRun::takeNote(const std::string& detail)
{
    const std::optional<std::string> sentence = memberOf(detail, "sentence");
    if (sentence && notes_.insert(*sentence).second)
        Q_EMIT notice(QString::fromStdString(*sentence));
}

void CommandRun::onHello(const wire::Hello& hello)
{
    ranks_[std::size_t(hello.rank)].heard = true;
    if (hello.rank != 0)
        return;
    if (hello.world != options_.config.world) {
        onBroken(0, Error{ErrorKind::Usage,
                          fmt::format("the script trains with {} rank{}", hello.world,
                                      hello.world == 1 ? "" : "s"),
                          fmt::format("the command looked as if it started {}", options_.config.world),
                          fmt::format("Start it again with --world {}", hello.world)});
        termTimer_.start(0);
    }
    keep(-1, recorder_->setProperty("environment", hello.environmentJson));
    keep(-1, row_.setEnvironment(hello.environmentJson));
}

void CommandRun::onStep(const StepRecord& record)
{
    if (!isSound(record.rank))
        return;
    for (const StepRecord& whole : shards_.add(record))
        keep(whole.rank, recorder_->append(whole));
}

void CommandRun::onSamples(const SamplesRecord& record)
{
    if (isSound(record.rank))
        keep(record.rank, recorder_->append(record));
}

void CommandRun::onTensor(const TensorRecord& record)
{
    if (!isSound(record.rank))
        return;
    for (const TensorRecord& whole : shards_.add(record))
        keep(whole.rank, recorder_->append(whole));
}

void CommandRun::onEvent(const EventRecord& record)
{
    if (!isSound(record.rank))
        return;
    if (record.kind == "config") {
        if (record.rank == 0)
            takeConfiguration(record.detail);
        return;
    }
    if (record.kind == "note")
        takeNote(record.detail);
    keep(record.rank, recorder_->append(record));
    keep(-1, row_.addCheckpoint(record));
}

void CommandRun::onHeartbeat(const wire::Heartbeat& heartbeat)
{
    if (!isSound(heartbeat.rank))
        return;
    if (heartbeat.stage != wire::Stage::Start)
        ranks_[std::size_t(heartbeat.rank)].heartbeatStep = heartbeat.step;
    recorder_->heartbeat(heartbeat);
}

void CommandRun::onGoodbye(const wire::Goodbye& goodbye)
{
    ranks_[std::size_t(goodbye.rank)].goodbye = goodbye;
    if (goodbye.kind == "error")
        onRankFailed();
}

void CommandRun::onClosed(int number)
{
    Rank& rank = ranks_[std::size_t(number)];
    rank.closedNs = monotonicNs();
    rank.afterFailure = failing_ && !rank.goodbye;
    if (!rank.goodbye && process_->isRunning())
        onRankFailed();
}

void CommandRun::onBroken(int number, const Error& error)
{
    Rank& rank = ranks_[std::size_t(number)];
    if (rank.defect.empty())
        rank.defect = Error{ErrorKind::Corrupt, fmt::format("The records of rank {} cannot be used", number),
                            fmt::format("{}: {}", error.what, error.why), error.fix}
                          .sentence();
    onRankFailed();
}

} // namespace lockstep
