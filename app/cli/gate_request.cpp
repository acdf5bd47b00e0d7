#include "app/cli/gate_request.h"

#include "core/host/launch_environment.h"

#include <QProcess>
#include <QTemporaryFile>

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {

Result<std::optional<RunInfo>> newestRun(ProjectStore& project, const std::string& mode,
                                         const std::string& named)
{
    if (!named.empty()) {
        Result<RunInfo> run = project.run(named);
        if (!run)
            return run.error();
        return std::optional(std::move(run).value());
    }
    Result<std::vector<RunInfo>> runs = project.runs();
    if (!runs)
        return runs.error();
    for (RunInfo& run : *runs) {
        if (run.auxiliary())
            continue; // repeated, replayed or broken on purpose: nobody trains like that
        if (run.state == RunState::Running || run.lastStep <= 0)
            continue;
        // Not skipped: a gate would judge an older run, or none, and call that green.
        const Result<RunConfig> config = runConfigFromJson(run.configJson);
        if (!config)
            return Error{config.error().kind, "The configuration of run " + run.id + " cannot be read",
                         config.error().why, "Delete the run, or name another one with --run and --single"};
        if (config->mode == mode)
            return std::optional(std::move(run));
    }
    return std::optional<RunInfo>();
}

Result<RunConfig> intendedDdp(ProjectStore& project, const GateRequest& request,
                              const std::optional<RunInfo>& run)
{
    constexpr int defaultWorld = 4;
    if (!request.configGiven && run)
        return runConfigFromJson(run->configJson);
    Result<RunConfig> config = request.config.config(project.info().workload);
    if (!config)
        return config.error();
    if (config->mode == "single")
        config->mode = "ddp";
    if (!request.worldGiven)
        config->world = defaultWorld;
    if (Status valid = validate(*config); !valid)
        return valid.error();
    return config;
}

bool configWritten(const CLI::App& command, const std::vector<const CLI::Option*>& own)
{
    for (const CLI::Option* option : command.get_options())
        if (option->count() > 0 && std::find(own.begin(), own.end(), option) == own.end())
            return true;
    return false;
}

Result<EnvironmentReport> askWorker(const RunConfig& config)
{
    Result<std::string> worker = findWorker();
    if (!worker)
        return worker.error();
    QTemporaryFile file;
    const std::string json = toJson(config);
    if (!file.open() || file.write(json.data(), qint64(json.size())) != qint64(json.size()) || !file.flush())
        return Error{ErrorKind::Io, "The worker cannot be asked for its environment",
                     "a temporary file cannot be written",
                     "Check the space and rights of the temporary folder"};
    QProcess process;
    process.start(QString::fromStdString(*worker),
                  {QStringLiteral("--environment"), QStringLiteral("--config"), file.fileName()});
    if (!process.waitForFinished(60'000) || process.exitStatus() != QProcess::NormalExit ||
        process.exitCode() != 0)
        return Error{ErrorKind::Environment, "The worker cannot report its environment",
                     process.readAllStandardError().trimmed().toStdString(),
                     "Run ./dev build, then ask again"};
    return EnvironmentReport::fromJson(process.readAllStandardOutput().toStdString());
}

} // namespace lockstep
