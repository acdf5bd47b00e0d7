#include "app/cli/gate_precision.h"

#include "app/cli/python_load.h"
#include "core/ckpt/open.h"
#include "core/ckpt/parts.h"
#include "core/ckpt/prefix.h"
#include "core/ckpt/verify.h"
#include "core/gates/kept_envelope.h"
#include "core/gates/precision_judge.h"
#include "core/host/launch_environment.h"
#include "core/host/run_once.h"
#include "core/host/stop_signals.h"

#include <QCoreApplication>
#include <QDateTime>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace lockstep {

namespace {

constexpr int kPythonSeconds = 120;

std::string checkpointOf(const std::string& runFolder, std::int64_t step)
{
    return fmt::format("{}/checkpoints/step_{:08d}.pt", runFolder, step);
}

Error unfinished(const RunInfo& run)
{
    const std::string why = run.firstFailure.sentence.empty()
                                ? fmt::format("it is {}", runStateName(run.state))
                                : run.firstFailure.sentence;
    return {ErrorKind::RunFailed, fmt::format("Phase 3 cannot be judged: run {} did not finish", run.id), why,
            "Mend the cause and start the gate again"};
}

std::string modelText(const Checkpoint& checkpoint, const ModelPart& model)
{
    std::set<std::string> types;
    for (const ModelKey& key : model.keys)
        types.insert(std::string(dtypeInfo(checkpoint.tensors[key.tensor].dtype).name));
    std::string text = fmt::format("model ({} tensors", model.keys.size());
    for (const std::string& type : types)
        text += ", " + type;
    return text + ")";
}

// "rng (2 ranks)": a dict by rank.
std::string countedPart(const char* name, const Value& part, const char* unit)
{
    return part.is(ValueKind::Dict) ? fmt::format("{} ({} {})", name, part.size(), unit) : std::string(name);
}

void listParts(const Checkpoint& checkpoint, bool needsScaler, CheckpointFacts& facts)
{
    const Parts parts = findParts(checkpoint);
    const auto part = [&facts](bool present, std::string text, const char* name) {
        if (present)
            facts.present.push_back(std::move(text));
        else
            facts.missing.emplace_back(name);
    };
    const ModelPart* model = parts.model();
    part(model != nullptr, model ? modelText(checkpoint, *model) : "", "model");
    const bool optimizer = !parts.optimizers.empty();
    part(optimizer,
         optimizer ? fmt::format("optimizer ({} parameters)", parts.optimizers.front().params.size()) : "",
         "optimizer");
    part(parts.hasScheduler, countedPart("scheduler", parts.scheduler, "fields"), "scheduler");
    part(parts.hasRng, countedPart("random numbers", parts.rng, "ranks"), "random numbers");
    part(parts.hasSampler, countedPart("sampler", parts.sampler, "fields"), "sampler");
    if (needsScaler || parts.hasScaler)
        part(parts.hasScaler, countedPart("scaler", parts.scaler, "fields"), "scaler");
    if (!model)
        return;
    facts.keys = std::int64_t(model->keys.size());
    for (const ModelKey& key : model->keys)
        if (withoutWrappers(key.name) != key.name)
            facts.prefixed.push_back(key.name);
}

CheckpointFacts lookInto(const std::string& path, bool needsScaler)
{
    CheckpointFacts facts;
    const Result<Checkpoint> checkpoint = openCheckpoint(path);
    if (!checkpoint) {
        facts.path = path;
        facts.fault = checkpoint.error().sentence();
        return facts;
    }
    facts.path = path;
    listParts(*checkpoint, needsScaler, facts);
    const Result<VerifyReport> report = verifyCheckpoint(path, nullptr);
    if (!report)
        facts.fault = report.error().sentence();
    else
        for (const Verdict& verdict : report->verdicts)
            if (verdict.severity == Severity::Failure && facts.fault.empty())
                facts.fault = verdict.sentence;
    const Result<PythonLoad> load = loadWithPython(path, {}, kPythonSeconds);
    facts.pythonAsked = load.ok();
    if (!load) {
        facts.python = load.error().sentence();
        return facts;
    }
    facts.pythonLoads = load->ok;
    facts.pythonTensors = load->tensors;
    facts.python = load->ok ? fmt::format("torch {} loads it with weights_only=True: {} tensors, {} bytes.",
                                          load->torch, load->tensors, load->bytes)
                            : fmt::format("torch {} does not load it: {}", load->torch, load->error);
    return facts;
}

// The engine says so where it cannot do mixed precision; then the rest of the phase is judged without it.
bool refusedAmp(const RunInfo& run)
{
    return run.state == RunState::Failed && run.firstFailure.sentence.find("--amp") != std::string::npos;
}

} // namespace

Result<GateInfo> runPrecisionGate(CliContext& context, const std::string& folder,
                                  const PrecisionRequest& request,
                                  const std::function<void(const std::string&)>& progress)
{
    QCoreApplication app(context.argc, context.argv);
    StopSignals signals;
    const Result<std::string> worker = findWorker();
    if (!worker)
        return worker.error();

    std::vector<PrecisionRun> plan = precisionPlan(request);
    std::deque<RunReader> readers; // the records point into it
    std::vector<PrecisionRecord> records;
    std::map<PrecisionRun::Role, std::string> folders;
    for (std::size_t i = 0; i < plan.size(); ++i) {
        PrecisionRun& wanted = plan[i];
        if (wanted.resumesFrom)
            wanted.config.resume = checkpointOf(folders[*wanted.resumesFrom], halfOf(request));
        Result<RunInfo> run = runOnce(folder, wanted.config, *worker, signals);
        if (!run)
            return run.error();
        if (i == 0 && refusedAmp(*run)) {
            progress(run->firstFailure.sentence);
            for (PrecisionRun& later : plan)
                later.config.amp = "off";
            run = runOnce(folder, wanted.config, *worker, signals);
            if (!run)
                return run.error();
        }
        if (run->state != RunState::Finished)
            return unfinished(*run);
        progress(fmt::format("{} of {}  {}  {} steps", i + 1, plan.size(), run->id, run->lastStep));
        folders[wanted.role] = run->folder;
        Result<RunReader> reader = RunReader::open(run->folder);
        if (!reader)
            return reader.error();
        readers.push_back(std::move(reader).value());
        records.push_back({wanted.role, wanted.config, &readers.back()});
    }
    const bool needsScaler = records.front().config.amp == "fp16";
    const CheckpointFacts checkpoint =
        lookInto(checkpointOf(folders[PrecisionRun::Role::Ddp], halfOf(request)), needsScaler);
    Result<GateInfo> gate = judgePrecision(request, records, checkpoint);
    if (!gate)
        return gate.error();
    std::vector<RunReader*> repeats;
    for (const PrecisionRecord& record : records)
        if (record.role == PrecisionRun::Role::Single || record.role == PrecisionRun::Role::Repeat)
            repeats.push_back(record.reader);
    if (const Status kept = keepMeasuredEnvelope(folder, repeats, KeptBy::Precision, records.front().config);
        !kept)
        return kept.error();
    gate->judgedUnixMs = QDateTime::currentMSecsSinceEpoch();
    return gate;
}

} // namespace lockstep
