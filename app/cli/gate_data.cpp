#include "app/cli/gate_request.h"
#include "app/cli/json_output.h"
#include "core/gates/config_diff.h"
#include "core/gates/data_fix.h"
#include "core/gates/data_judge.h"
#include "core/gates/id_list.h"
#include "core/gates/recorded_orders.h"
#include "core/gates/sample_agreement.h"
#include "core/host/launch_environment.h"
#include "core/host/run_once.h"
#include "core/host/stop_signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace lockstep {

namespace {

struct DataTask {
    DataPlan plan;
    std::unique_ptr<DataSource> source;
};

Error sizeUnknown(const std::string& why)
{
    return {ErrorKind::Input, "The data gate cannot be judged",
            "the size of the dataset is not known: " + why, "Give it with --samples N"};
}

// From the command line, the run's environment, or a worker.
Result<std::int64_t> datasetSize(const GateRequest& request, const RunConfig& config,
                                 const std::optional<RunInfo>& run)
{
    if (request.samples >= 0)
        return request.samples;
    if (const std::int64_t length = recordedLength(config); length >= 0)
        return length;
    if (run) {
        const Result<EnvironmentReport> environment = EnvironmentReport::fromJson(run->environmentJson);
        if (environment)
            if (const auto size = environment->number("dataset_size"))
                return *size;
    }
    if (isScript(config))
        return sizeUnknown("the dataset of " + config.workload + " told the probe no length");
    const Result<EnvironmentReport> environment = askWorker(config);
    if (!environment)
        return sizeUnknown(environment.error().what + ", " + environment.error().why);
    const auto size = environment->number("dataset_size");
    return size ? Result<std::int64_t>(*size) : sizeUnknown("the worker does not know " + config.workload);
}

// Samples per optimizer step of the newest single-process run; 0: there is none.
Result<std::int64_t> referenceBatch(ProjectStore& project, const GateRequest& request)
{
    Result<std::optional<RunInfo>> single = newestRun(project, "single", request.single);
    if (!single)
        return single.error();
    if (!*single)
        return std::int64_t(0);
    const Result<RunConfig> config = runConfigFromJson((*single)->configJson);
    return config ? samplesPerStep(*config) : 0;
}

Result<DataPlan> storedPlan(ProjectStore& project)
{
    Result<std::vector<GateInfo>> gates = project.gates();
    if (!gates)
        return gates.error();
    const auto gate =
        std::find_if(gates->begin(), gates->end(), [](const GateInfo& g) { return g.phase == "data"; });
    if (gate == gates->end() || gate->configJson.empty())
        return Error{ErrorKind::NotFound, "There is no plan yet", "the data gate was not judged before",
                     "Judge it once"};
    return dataPlanFromJson(gate->configJson);
}

class DataPhase
{
public:
    DataPhase(ProjectStore& project, const GateRequest& request) : project_(project), request_(request) {}

    Result<DataTask> prepare()
    {
        if (!request_.fixCause.empty()) {
            Result<DataPlan> plan = storedPlan(project_);
            if (!plan)
                return plan.error();
            Result<DataPlan> fixed = applyFix(*plan, request_.fixCause);
            if (!fixed)
                return fixed.error();
            return simulate(*fixed);
        }
        if (!request_.ids.empty()) {
            const Result<std::optional<RunInfo>> ddp = newestRun(project_, "ddp", request_.run);
            if (!ddp)
                return ddp.error();
            return fromLists(*ddp);
        }
        Result<std::optional<RunInfo>> run = newestSeveral(project_, request_);
        if (!run)
            return run.error();
        // A plan that was judged or fixed after the newest run speaks for what comes next.
        if (request_.run.empty() && !request_.configGiven) {
            const Result<DataPlan> stored = storedPlan(project_);
            if (stored && stored->source == "plan" && !newerThanGate(*run))
                return simulate(*stored);
        }
        if (*run && !request_.configGiven)
            return fromRun(**run);
        if (!request_.run.empty())
            return Error{ErrorKind::Usage, "Two sources are named",
                         "--run and a configuration exclude each other", "Leave one out"};
        Result<DataPlan> plan = planned(std::nullopt);
        if (!plan)
            return plan.error();
        return simulate(*plan);
    }

private:
    bool newerThanGate(const std::optional<RunInfo>& run)
    {
        if (!run)
            return false;
        const Result<std::vector<GateInfo>> gates = project_.gates();
        if (!gates)
            return false;
        for (const GateInfo& gate : *gates)
            if (gate.phase == "data")
                return run->startedUnixMs > gate.judgedUnixMs;
        return true;
    }

    Result<DataPlan> planned(const std::optional<RunInfo>& run)
    {
        Result<RunConfig> config = intendedDdp(project_, request_, run);
        if (!config)
            return config.error();
        Result<std::int64_t> size = datasetSize(request_, *config, run);
        if (!size)
            return size.error();
        Result<std::int64_t> reference = referenceBatch(project_, request_);
        if (!reference)
            return reference.error();
        DataPlan plan = planOf(*config, *size);
        if (!plan.script)
            plan.workers = request_.workers;
        plan.evaluation = request_.evaluation;
        plan.referenceBatch = *reference;
        if (Status valid = validate(plan); !valid)
            return valid.error();
        return plan;
    }

    Result<DataTask> simulate(DataPlan plan)
    {
        if (Status valid = validate(plan); !valid)
            return valid.error();
        plan.source = "plan";
        // Fewer epochs cannot show whether the order changes.
        plan.epochs = std::max<std::int64_t>(plan.epochs, 2);
        DataTask task{plan, nullptr};
        task.source = std::make_unique<PlanSource>(plan);
        return task;
    }

    Result<DataTask> fromRun(const RunInfo& run)
    {
        Result<DataPlan> plan = planned(run);
        if (!plan)
            return plan.error();
        plan->source = "run:" + run.id;
        Result<RunReader> reader = RunReader::open(run.folder);
        if (!reader)
            return reader.error();
        Result<std::unique_ptr<DataSource>> source = recordedOrders(*reader, "run " + run.id, *plan);
        if (!source) {
            // A run too short for an epoch still says what is meant.
            if (source.error().kind == ErrorKind::Input && request_.run.empty())
                return simulate(*plan);
            return source.error();
        }
        if (plan->script && !plan->samplerSeedKnown) {
            const Result<bool> shuffled = isShuffled(**source);
            if (!shuffled)
                return shuffled.error();
            plan->shuffle = *shuffled;
        }
        DataTask task{*plan, std::move(*source)};
        return task;
    }

    Result<DataTask> fromLists(const std::optional<RunInfo>& run)
    {
        Result<std::unique_ptr<DataSource>> source =
            importIdLists(request_.ids, {request_.samples, !request_.stream});
        if (!source)
            return source.error();
        const DataFacts& facts = (*source)->facts();
        Result<RunConfig> config = intendedDdp(project_, request_, run);
        if (!config)
            return config.error();
        DataPlan plan = planOf(*config, facts.datasetSize);
        plan.world = facts.world;
        plan.epochs = facts.epochs;
        plan.evaluation = request_.evaluation;
        plan.workers = request_.workers;
        plan.source = "ids:" + request_.ids.front();
        // Somebody else's sampler: what a run of this project recorded says nothing of it. Its seed is known only if
        // it was said, whether it shuffles is seen in the ids.
        plan.faults.clear();
        plan.script = false;
        plan.samplerSeedKnown = request_.samplerSeedGiven;
        if (request_.samplerSeedGiven) {
            const Result<RunConfig> given = request_.config.config(project_.info().workload);
            if (!given)
                return given.error();
            plan.samplerSeed = given->samplerSeed;
            plan.shuffle = given->shuffle;
            plan.dropLast = plan.dropLast || given->dropLast;
        } else {
            const Result<bool> shuffled = isShuffled(**source);
            if (!shuffled)
                return shuffled.error();
            plan.shuffle = *shuffled;
        }
        Result<std::int64_t> reference = referenceBatch(project_, request_);
        if (!reference)
            return reference.error();
        plan.referenceBatch = *reference;
        DataTask task{plan, std::move(*source)};
        return task;
    }

    ProjectStore& project_;
    const GateRequest& request_;
};

void writePlace(JsonDocument& json, const char* key, std::int64_t value)
{
    json.key(key);
    if (value < 0)
        json.null();
    else
        json.number(value);
}

std::string findingsDocument(const DataVerdict& verdict, const DataPlan& plan)
{
    JsonDocument json;
    json.beginObject().key("plan").raw(toJson(plan));
    json.key("findings").beginArray();
    for (const DataFinding& f : verdict.findings) {
        json.beginObject().key("cause").text(f.cause).key("note").raw(f.note ? "true" : "false");
        writePlace(json, "epoch", f.epoch);
        writePlace(json, "step", f.step);
        writePlace(json, "rank", f.rank);
        json.key("sentence").text(f.sentence).key("fix").text(f.fix).endObject();
    }
    json.endArray().key("epochs").beginArray();
    for (const EpochRow& e : verdict.epochs) {
        json.beginObject().key("epoch").number(e.epoch).key("rows").number(e.rows).key("seen").number(e.seen);
        json.key("overlap").number(e.overlap).key("padding").number(e.padding).key("omitted").number(
            e.omitted);
        json.key("first_step").number(e.firstStep).key("steps").number(e.steps);
        json.key("same_order").raw(e.sameOrder ? "true" : "false").endObject();
    }
    json.endArray().endObject();
    return json.text();
}

// The workload's own loader on real ranks: a recorded run of two epochs. Returns its id.
Result<std::string> runLoader(ProjectStore& project, const GateRequest& request)
{
    Result<std::optional<RunInfo>> before = newestRun(project, "ddp", request.run);
    if (!before)
        return before.error();
    Result<RunConfig> config = intendedDdp(project, request, *before);
    if (!config)
        return config.error();
    config->name = "loader";
    config->steps = 0;
    config->epochs = 2;
    config->record = "step";
    config->resume.clear();
    const Result<std::string> worker = findWorker();
    if (!worker)
        return worker.error();
    StopSignals signals;
    Result<RunInfo> run = runOnce(project.info().folder, *config, *worker, signals);
    if (!run)
        return run.error();
    if (run->state != RunState::Finished)
        return Error{ErrorKind::RunFailed, fmt::format("The loader run {} did not finish", run->id),
                     run->firstFailure.sentence, "Mend the cause and judge again"};
    return run->id;
}

} // namespace

Result<GateInfo> judgeDataPhase(CliContext& context, ProjectStore& project, const GateRequest& asked,
                                std::string& findingsJson)
{
    GateRequest request = asked;
    if (request.withLoader) {
        const Result<std::string> run = runLoader(project, request);
        if (!run)
            return run.error();
        if (!context.json)
            fmt::print("{}  recorded two epochs of the real loader\n", *run);
        request.run = *run;
        request.configGiven = false;
        request.ids.clear();
    }
    Result<DataTask> task = DataPhase(project, request).prepare();
    if (!task)
        return task.error();
    Result<DataVerdict> verdict = judgeData(*task->source, task->plan);
    if (!verdict)
        return verdict.error();
    findingsJson = findingsDocument(*verdict, task->plan);
    return dataGate(*verdict, task->plan);
}

} // namespace lockstep
