#include "app/cli/diagnose_proof.h"

#include "core/config/json.h"
#include "core/host/launch_environment.h"
#include "core/host/run_once.h"
#include "core/host/stop_signals.h"
#include "core/host/worker_answers.h"
#include "core/store/project_store.h"

#include <QCoreApplication>
#include <QTemporaryDir>

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {

namespace {

// What was found before stands.
Error proofStopped()
{
    return {ErrorKind::Cancelled, "The proof was stopped", "a signal asked for it", ""};
}

} // namespace

std::int64_t schedulePeriod(const RunConfig& config, std::int64_t lastStep)
{
    if (config.schedulerPeriod > 0 || config.scheduler == "none")
        return config.schedulerPeriod;
    const std::int64_t total = config.steps > 0 ? config.steps : lastStep;
    const std::int64_t parts = config.scheduler == "step" ? 3 : config.scheduler == "warmup" ? 10 : 1;
    return std::max<std::int64_t>(1, total / parts);
}

ReplayRunner::ReplayRunner() = default;
ReplayRunner::ReplayRunner(ReplayRunner&&) noexcept = default;
ReplayRunner::~ReplayRunner() = default;

Result<ReplayRunner> ReplayRunner::create(CliContext& context, const RunConfig& observed,
                                          std::int64_t lastStep)
{
    if (observed.mode == "fsdp")
        return Error{ErrorKind::Input, "Nothing can be proven", "there is no twin of a sharded run",
                     "Use --mode ddp to prove a cause"};
    ReplayRunner runner;
    runner.app_ = std::make_unique<QCoreApplication>(context.argc, context.argv);
    runner.signals_ = std::make_unique<StopSignals>();
    runner.folder_ = std::make_unique<QTemporaryDir>();
    Result<std::string> worker = findWorker();
    if (!worker)
        return worker.error();
    runner.worker_ = std::move(worker).value();
    const std::string project = runner.folder_->filePath(QStringLiteral("replays")).toStdString();
    if (!runner.folder_->isValid())
        return Error{ErrorKind::Io, "There is no room for the replays",
                     runner.folder_->errorString().toStdString(), "Set TMPDIR to a folder with space"};
    if (const auto made = ProjectStore::create(project, observed.workload); !made)
        return made.error();
    RunConfig& config = runner.config_;
    config = observed;
    config.name = "replay";
    config.mode = observed.mode == "single" ? "single" : "twin";
    config.faults.clear();
    config.checkpointEvery = 0;
    config.schedulerPeriod = schedulePeriod(observed, lastStep);
    if (Status known = runner.askWorker(); !known)
        return known.error();
    return runner;
}

// Which causes the engine can play, and with which parameters.
Status ReplayRunner::askWorker()
{
    const Result<rapidjson::Document> catalogue = workerCatalogue();
    if (!catalogue)
        return catalogue.error();
    for (const auto& fault : (*catalogue)["faults"].GetArray()) {
        std::vector<std::string>& names = parameters_[fault["id"].GetString()];
        for (const auto& parameter : fault["parameters"].GetArray()) {
            const std::string entry = parameter.GetString();
            names.push_back(entry.substr(0, entry.find(':')));
        }
    }
    return {};
}

Result<RunInfo> ReplayRunner::run(const std::vector<FaultSpec>& faults, std::int64_t until)
{
    RunConfig config = config_;
    config.faults = faults;
    config.steps = until;
    return runOnce(folder_->filePath(QStringLiteral("replays")).toStdString(), config, worker_, *signals_);
}

Result<std::string> ReplayRunner::clean(std::int64_t until)
{
    const Result<RunInfo> info = run({}, until);
    if (!info)
        return info.error().kind == ErrorKind::Cancelled ? proofStopped() : info.error();
    if (info->state != RunState::Finished)
        return Error{ErrorKind::RunFailed, "The run cannot be replayed", info->firstFailure.sentence, ""};
    return info->folder;
}

Result<ReplayOutcome> ReplayRunner::replay(const FaultSpec& fault, RunReader& observed, std::int64_t from,
                                           std::int64_t until)
{
    ReplayOutcome outcome;
    outcome.fault = fault;
    if (!canPlay(fault.id)) {
        outcome.failure = "the engine cannot play this cause";
        return outcome;
    }
    // A parameter the engine does not take is one its deviation does not need, or the replay will say so.
    FaultSpec planted = fault;
    const std::vector<std::string>& known = parameters_.at(fault.id);
    std::erase_if(planted.parameters, [&known](const auto& parameter) {
        return std::find(known.begin(), known.end(), parameter.first) == known.end();
    });
    const Result<RunInfo> info = run({planted}, until);
    if (!info) {
        if (info.error().kind == ErrorKind::Cancelled)
            return proofStopped();
        outcome.failure = info.error().sentence();
        return outcome;
    }
    if (info->state != RunState::Finished) {
        outcome.failure = info->firstFailure.sentence;
        return outcome;
    }
    Result<RunReader> reader = RunReader::open(info->folder);
    if (!reader) {
        outcome.failure = reader.error().sentence();
        return outcome;
    }
    const Result<ReplayVerdict> verdict = compareReplay(*reader, observed, from, until);
    if (!verdict) {
        outcome.failure = verdict.error().sentence();
        return outcome;
    }
    outcome.verdict = *verdict;
    outcome.state = verdict->equal ? ReplayOutcome::Equal : ReplayOutcome::Differs;
    return outcome;
}

} // namespace lockstep
