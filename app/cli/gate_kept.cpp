#include "app/cli/gate_kept.h"

#include "core/gates/config_diff.h"
#include "core/gates/data_plan.h"
#include "core/gates/preflight.h"

namespace lockstep {

namespace {

// The same training, however long and however recorded.
bool sameTraining(const RunConfig& run, const RunConfig& asked)
{
    for (const ConfigDiffRow& row : differingKeys(run, asked))
        if (row.effect != "no effect" && row.key != "steps" && row.key != "epochs")
            return false;
    return run.faults == asked.faults;
}

// The same samples on the same ranks. Of a list, whose sampler is not this project's, only size and ranks can be held
// against the run.
bool sameData(const RunConfig& run, const std::optional<std::int64_t>& size, const DataPlan& asked)
{
    const std::int64_t recorded = size.value_or(recordedLength(run));
    const DataPlan plan = planOf(run, recorded >= 0 ? recorded : asked.datasetSize);
    const bool shape = plan.world == asked.world && plan.datasetSize == asked.datasetSize;
    if (asked.source.starts_with("ids:"))
        return shape;
    // A simulation says nothing of what a script deals.
    return shape && plan.script == asked.script && plan.batch == asked.batch &&
           plan.accumulate == asked.accumulate && plan.shuffle == asked.shuffle &&
           plan.dropLast == asked.dropLast && plan.samplerSeed == asked.samplerSeed &&
           plan.seed == asked.seed && plan.faults == asked.faults;
}

Result<bool> describesRun(const RunInfo& info, const GateInfo& gate)
{
    const Result<RunConfig> config = runConfigFromJson(info.configJson);
    if (!config)
        return config.error();
    const RunConfig& run = *config;
    if (gate.phase == "preflight") {
        const Result<JudgedConfigs> judged = judgedConfigs(gate.configJson);
        if (!judged)
            return judged.error();
        return sameTraining(run, judged->ddp);
    }
    const Result<DataPlan> plan = dataPlanFromJson(gate.configJson);
    if (!plan)
        return plan.error();
    const Result<EnvironmentReport> environment = EnvironmentReport::fromJson(info.environmentJson);
    return sameData(run, environment ? environment->number("dataset_size") : std::nullopt, *plan);
}

} // namespace

Result<GateKept> keptGate(ProjectStore& project, const GateRequest& request, const GateInfo& gate)
{
    const bool judgesPlans = gate.phase == "preflight" || gate.phase == "data";
    const bool asks = request.configGiven || !request.ids.empty() || request.samples >= 0;
    // A fix is one of the project's own plan; the loader's run has become the newest.
    if (!judgesPlans || !asks || !request.fixCause.empty() || request.withLoader)
        return GateKept{};
    if (request.keep)
        return GateKept{true, "Kept as the plan of the project."};
    const Result<std::optional<RunInfo>> newest = newestRun(project, "ddp", "");
    if (!newest)
        return newest.error();
    if (!*newest)
        return GateKept{true, "Kept as the plan of the project, which has no run of several ranks yet."};
    const Result<bool> same = describesRun(**newest, gate);
    if (!same)
        return same.error();
    if (*same)
        return GateKept{true, "Kept as the project's verdict: it is what " + (*newest)->id + " trains."};
    return GateKept{
        false, "Tried only, the project's verdict is unchanged: this does not describe the newest run, " +
                   (*newest)->id + ". --keep makes it the plan."};
}

} // namespace lockstep
