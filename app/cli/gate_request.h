// What `gate DIR PHASE` asks for, and the facts the gates of phases 0 and 1 start from: which configurations, which
// environment, how large a dataset.
#pragma once

#include "app/cli/cli_context.h"
#include "app/cli/run_options.h"
#include "core/gates/environment_checks.h"
#include "core/store/project_store.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct GateRequest {
    std::string folder;
    std::string phase;
    RunConfigOptions config; // of the DDP run that is intended
    bool configGiven = false;
    bool worldGiven = false;
    bool samplerSeedGiven = false;
    std::optional<std::string> overrideReason;
    std::string fixCause;         // data: apply this fix to the plan first
    std::string run, single;      // recorded runs to judge, instead of the newest
    std::vector<std::string> ids; // data: id lists
    std::int64_t samples = -1;    // data: size of the dataset
    int workers = 2;              // data: loader workers per rank
    bool evaluation = false;      // data: the ids are of an evaluation
    bool stream = false;          // data: the dataset has no length
    bool keep = false;            // preflight, data: this configuration is the plan, whatever was run
    bool withLoader = false;      // data: run the real loader on real ranks
};

// The newest run of this mode that has ended, or the one that is named; nullopt: none.
Result<std::optional<RunInfo>> newestRun(ProjectStore& project, const std::string& mode,
                                         const std::string& named);

// Whether the run is one of a user's own script.
bool ofScript(const RunInfo& run);

// The newest run on several ranks: DDP, of a script FSDP too. Error where the project has a script in one process only: a
// gate would judge an engine's workload that nobody meant.
Result<std::optional<RunInfo>> newestSeveral(ProjectStore& project, const GateRequest& request);

// The run in one process that `several` is held against: the newest. Of a script the newest with as many threads, as the
// repeats with other numbers of threads measure an envelope and are no reference.
Result<std::optional<RunInfo>> newestSingle(ProjectStore& project, const std::string& named,
                                            const std::optional<RunInfo>& several);

// The DDP configuration that is meant: the command line's, else that of `run`, else a default for the project.
Result<RunConfig> intendedDdp(ProjectStore& project, const GateRequest& request,
                              const std::optional<RunInfo>& run);

// Whether any option of the command that makes a RunConfig was written; `own` are those that do not.
bool configWritten(const CLI::App& command, const std::vector<const CLI::Option*>& own);

// `lockstep-worker --environment` for this configuration. Errors: the worker is missing or says something else.
Result<EnvironmentReport> askWorker(const RunConfig& config);

// Errors of the judge itself; a gate that fails is a value.
Result<GateInfo> judgePreflightPhase(ProjectStore& project, const GateRequest& request);
// `findingsJson` gets the findings and the per-epoch table as JSON members for the document.
Result<GateInfo> judgeDataPhase(CliContext& context, ProjectStore& project, const GateRequest& request,
                                std::string& findingsJson);

} // namespace lockstep
