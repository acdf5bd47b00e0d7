#include "app/cli/gate_request.h"

#include "core/config/run_extras.h"
#include "core/gates/sample_agreement.h"
#include "core/host/worker_answers.h"

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

bool ofScript(const RunInfo& run)
{
    const Result<RunConfig> config = runConfigFromJson(run.configJson);
    return scriptCommandOf(run.configJson) || (config && isScript(*config));
}

Result<std::optional<RunInfo>> newestSeveral(ProjectStore& project, const GateRequest& request)
{
    Result<std::optional<RunInfo>> ddp = newestRun(project, "ddp", request.run);
    if (!ddp || !request.run.empty())
        return ddp;
    Result<std::optional<RunInfo>> fsdp = newestRun(project, "fsdp", "");
    if (!fsdp)
        return fsdp;
    if (*fsdp && ofScript(**fsdp) && (!*ddp || (*ddp)->startedUnixMs < (*fsdp)->startedUnixMs))
        return fsdp;
    if (*ddp || request.configGiven)
        return ddp;
    const Result<std::optional<RunInfo>> single = newestRun(project, "single", request.single);
    if (!single)
        return single.error();
    if (*single && ofScript(**single))
        return Error{ErrorKind::NotFound, "The gate " + request.phase + " cannot be judged",
                     "no run of the script with several ranks is recorded",
                     "Record one: lockstep-cli probe DIR -- torchrun --nproc-per-node 2 train_ddp.py"};
    return ddp;
}

Result<std::optional<RunInfo>> newestSingle(ProjectStore& project, const std::string& named,
                                            const std::optional<RunInfo>& several)
{
    Result<std::optional<RunInfo>> newest = newestRun(project, "single", named);
    const auto threadsOf = [](const RunInfo& run) {
        const std::optional<ScriptCommand> command = scriptCommandOf(run.configJson);
        return command ? command->threads : 0;
    };
    if (!newest || !*newest || !named.empty() || !several || threadsOf(*several) == 0 ||
        threadsOf(**newest) == threadsOf(*several))
        return newest;
    Result<std::vector<RunInfo>> runs = project.runs();
    if (!runs)
        return runs.error();
    for (RunInfo& run : *runs) {
        const Result<RunConfig> config = runConfigFromJson(run.configJson);
        if (config && config->mode == "single" && !run.auxiliary() && run.state != RunState::Running &&
            run.lastStep > 0 && threadsOf(run) == threadsOf(*several))
            return std::optional(std::move(run));
    }
    return newest;
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
    const Result<std::string> answer = workerEnvironment(config);
    if (!answer)
        return answer.error();
    return EnvironmentReport::fromJson(*answer);
}

} // namespace lockstep
