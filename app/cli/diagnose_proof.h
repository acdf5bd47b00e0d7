// Runs the replays of a diagnosis: a twin per suspected cause, in a project of its own that goes with this object.
#pragma once

#include "app/cli/cli_context.h"
#include "core/align/proof.h"
#include "core/config/run_config.h"
#include "core/store/run_info.h"

#include <QtGlobal>

#include <map>
#include <memory>
#include <string>
#include <vector>

QT_BEGIN_NAMESPACE
class QCoreApplication;
class QTemporaryDir;
QT_END_NAMESPACE

namespace lockstep {

class StopSignals;

// Cutting a run short must not move a schedule whose length follows from the run's: the period to give the short one.
std::int64_t schedulePeriod(const RunConfig& config, std::int64_t lastStep);

class ReplayRunner
{
public:
    // `observed`: the configuration of the run to be explained; planted deviations in it are dropped. Errors: no worker,
    // no room for the replays.
    static Result<ReplayRunner> create(CliContext& context, const RunConfig& observed, std::int64_t lastStep);
    ReplayRunner(ReplayRunner&&) noexcept;
    ~ReplayRunner();

    // The run's replay with nothing planted, up to the step; its folder. Errors: as of a run; Cancelled after a signal.
    Result<std::string> clean(std::int64_t until);
    // Errors: Cancelled only; a replay that fails is an outcome.
    Result<ReplayOutcome> replay(const FaultSpec& fault, RunReader& observed, std::int64_t from,
                                 std::int64_t until);
    // Whether the engine can play the cause at all.
    bool canPlay(const std::string& cause) const { return parameters_.contains(cause); }

private:
    ReplayRunner();
    Status askWorker();
    Result<RunInfo> run(const std::vector<FaultSpec>& faults, std::int64_t until);

    std::unique_ptr<QCoreApplication> app_;
    std::unique_ptr<StopSignals> signals_;
    std::unique_ptr<QTemporaryDir> folder_;
    std::string worker_;
    RunConfig config_;
    std::map<std::string, std::vector<std::string>> parameters_; // per cause the engine knows
};

} // namespace lockstep
