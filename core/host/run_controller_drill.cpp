// The part of RunController that breaks things on purpose, and the events that tell who knew what when.
#include "core/config/json.h"
#include "core/host/process_state.h"
#include "core/host/run_controller_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace lockstep {

namespace {

constexpr int kWatchMs = 2; // how exactly the moment of a stop is known

} // namespace

void RunController::timeline(int rank, const std::string& kind, std::int64_t ns, const std::string& detail)
{
    EventRecord record;
    record.rank = rank;
    record.step = std::max<std::int64_t>(0, stepInProgress(rank < 0 ? 0 : rank));
    record.kind = kind;
    record.monotonicNs = ns;
    record.detail = detail;
    keep(-1, recorder_->append(record));
}

// How the rank ended, and what it had said of it. Only of runs that fail: a good end tells nothing.
void RunController::noteEnd(int number)
{
    const Rank& rank = *ranks_[std::size_t(number)];
    rapidjson::StringBuffer buffer;
    JsonWriter json(buffer);
    json.StartObject();
    json.Key("code"), json.Int(rank.end->code);
    json.Key("signalled"), json.Bool(rank.end->signalled);
    json.Key("by_host"), json.Bool(rank.endedByHost);
    json.EndObject();
    timeline(number, "exit", rank.end->monotonicNs, buffer.GetString());
}

void RunController::noteGoodbye(const wire::Goodbye& goodbye)
{
    rapidjson::StringBuffer buffer;
    JsonWriter json(buffer);
    json.StartObject();
    json.Key("kind"), json.String(goodbye.kind);
    json.Key("echo"), json.Bool(goodbye.secondary || isEchoOfPeer(goodbye.sentence));
    json.Key("sentence"), json.String(goodbye.sentence);
    json.EndObject();
    timeline(goodbye.rank, "noticed", goodbye.monotonicNs, buffer.GetString());
}

void RunController::noteVerdict(const RunVerdict& verdict)
{
    rapidjson::StringBuffer buffer;
    JsonWriter json(buffer);
    json.StartObject();
    json.Key("rank"), json.Int(verdict.firstFailure.rank);
    json.Key("step"), json.Int64(verdict.firstFailure.step);
    json.Key("sentence"), json.String(verdict.firstFailure.sentence);
    json.EndObject();
    timeline(-1, "verdict", monotonicNs(), buffer.GetString());
}

void RunController::drillWhenDue(const StepRecord& record)
{
    if (options_.drill && options_.drill->backUpAt > 0 && world_ < options_.config.world &&
        record.rank == 0 && record.step >= options_.drill->backUpAt && phase_ == Phase::Running)
        if (const Status asked = requestSwitch(options_.config.world); !asked)
            Q_EMIT notice(QString::fromStdString(asked.error().sentence()));
    if (!options_.drill || drillBegun_ || record.rank != options_.drill->rank ||
        record.step < options_.drill->step)
        return;
    drillBegun_ = true;
    if (options_.drill->act == HostDrill::Act::Watch) {
        connect(&drillTimer_, &QTimer::timeout, this, &RunController::watchForStop);
        drillTimer_.start(kWatchMs);
        return;
    }
    drillTimer_.setSingleShot(true);
    drillTimer_.setTimerType(Qt::PreciseTimer);
    connect(&drillTimer_, &QTimer::timeout, this, &RunController::drill);
    drillTimer_.start(std::chrono::milliseconds(options_.drill->delayMicros / 1000));
}

void RunController::drill()
{
    if (phase_ != Phase::Running)
        return;
    const HostDrill& drill = *options_.drill;
    if (drill.act == HostDrill::Act::Kill) {
        noteDrill("kill");
        ranks_[std::size_t(drill.rank)]->process->kill();
    } else {
        noteDrill("connection");
        ingest_->dropAll();
    }
}

void RunController::watchForStop()
{
    const WorkerProcess& process = *ranks_[std::size_t(options_.drill->rank)]->process;
    if (process.isRunning() && !isStopped(process.pid()))
        return;
    drillTimer_.stop();
    if (process.isRunning())
        noteDrill("hang");
}

void RunController::noteDrill(const char* act)
{
    timeline(-1, "drill", monotonicNs(),
             fmt::format("{{\"act\":\"{}\",\"rank\":{}}}", act, options_.drill->rank));
}

} // namespace lockstep
