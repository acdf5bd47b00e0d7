#include "core/report/report.h"

#include "core/config/json.h"
#include "core/gates/degrade_judge.h"
#include "core/gates/text.h"
#include "core/report/restore_steps.h"
#include "core/store/run_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

namespace lockstep {

namespace {

std::string shown(const rapidjson::Value& value)
{
    if (value.IsString())
        return value.GetString();
    if (value.IsBool())
        return value.GetBool() ? "yes" : "no";
    if (value.IsInt64())
        return std::to_string(value.GetInt64());
    if (value.IsNumber())
        return fmt::format("{:g}", value.GetDouble());
    return jsonText(value);
}

std::vector<std::pair<std::string, std::string>> members(const std::string& json)
{
    std::vector<std::pair<std::string, std::string>> out;
    const Result<rapidjson::Document> document = parseJson(json, "the environment");
    if (!document || !document->IsObject())
        return out;
    for (const auto& member : document->GetObject())
        out.emplace_back(member.name.GetString(), shown(member.value));
    return out;
}

bool reachedSteps(const RunInfo& run)
{
    return run.lastStep > 0 && run.state != RunState::Running;
}

// A project that was moved has its checkpoints where its runs are now. Empty: the file is gone.
std::string whereNow(const CheckpointSeen& checkpoint, const std::string& runFolder)
{
    namespace fs = std::filesystem;
    std::error_code ignored;
    const fs::path moved = fs::path(runFolder) / "checkpoints" / fs::path(checkpoint.path).filename();
    for (const fs::path& path : {moved, fs::path(checkpoint.path)})
        if (fs::exists(path, ignored))
            return path.string();
    return {};
}

class Collector
{
public:
    Collector(ProjectStore& project, std::int64_t nowUnixMs) : project_(project)
    {
        report_.project = project.info();
        report_.createdUnixMs = nowUnixMs;
    }
    Result<MigrationReport> collect();

private:
    Status gates();
    Status runs();
    Status restore();
    bool restoreScript(const CheckpointSeen& checkpoint);
    void scope();
    void subject();
    void plots();
    const ReportRun* newest(const char* mode, bool byPeople) const;
    std::optional<ReportCurve> loss(const ReportRun& run) const;

    ProjectStore& project_;
    MigrationReport report_;
};

Status Collector::gates()
{
    const Result<std::vector<GateInfo>> judged = project_.gates();
    if (!judged)
        return judged.error();
    for (PhaseState& state : phaseStates(*judged)) {
        ReportGate gate;
        gate.state = std::move(state);
        gate.gate.phase = gate.state.phase;
        for (const GateInfo& info : *judged)
            if (info.phase == gate.state.phase)
                gate.gate = info;
        for (const GateCheck& check : gate.gate.checks)
            gate.holding += check.verdict == "pass";
        report_.gates.push_back(std::move(gate));
    }
    const auto passed = [](const ReportGate& gate) { return gate.state.passed; };
    const auto overridden = [](const ReportGate& gate) { return gate.state.overridden; };
    report_.verdict = !std::all_of(report_.gates.begin(), report_.gates.end(), passed)      ? "open"
                      : std::any_of(report_.gates.begin(), report_.gates.end(), overridden) ? "overridden"
                                                                                            : "pass";
    Result<std::vector<FindingRow>> findings = project_.findings();
    if (!findings)
        return findings.error();
    report_.findings = std::move(findings).value();
    return {};
}

Status Collector::runs()
{
    Result<std::vector<RunInfo>> runs = project_.runs();
    if (!runs)
        return runs.error();
    for (RunInfo& info : *runs) {
        Result<RunConfig> config = runConfigFromJson(info.configJson);
        ReportRun run{std::move(info), config ? std::move(config).value() : RunConfig(), {}};
        if (Result<RunReader> reader = RunReader::open(run.info.folder); reader)
            if (const Result<std::vector<SegmentInfo>> segments = reader->segments();
                segments && segments->size() > 1)
                for (const SegmentInfo& segment : *segments)
                    run.segments.push_back(fmt::format(
                        "{} from step {}", counted(segment.world, "rank", "ranks"), segment.firstStep));
        report_.runs.push_back(std::move(run));
    }
    return {};
}

// Only what finished counts: it was trained, saved and, for resumed runs, loaded.
void Collector::scope()
{
    std::set<std::string> workloads, worlds, precision, devices, torch, loaded, optimizers;
    for (const ReportRun& run : report_.runs) {
        if (run.info.state != RunState::Finished)
            continue;
        workloads.insert(run.config.workload);
        worlds.insert(run.config.mode == "single" ? std::string("1 process")
                                                  : fmt::format("{} {}", run.config.mode, run.config.world));
        precision.insert(run.config.amp == "off" ? std::string("float32") : run.config.amp);
        devices.insert(run.config.mode == "single" ? run.config.device
                                                   : run.config.device + " with " + run.config.backend);
        optimizers.insert(run.config.optimizer);
        for (const auto& [key, value] : members(run.info.environmentJson))
            if (key == "torch")
                torch.insert(value);
        if (!run.config.resume.empty())
            loaded.insert(run.config.mode == "single" ? std::string("in 1 process")
                                                      : fmt::format("by {} ranks", run.config.world));
        for (const std::string& segment : run.segments)
            loaded.insert(segment.substr(0, segment.find(" from")) + " after a switch");
    }
    for (const ReportGate& gate : report_.gates)
        for (const GateCheck& check : gate.gate.checks)
            if (check.id == "precision.python" && check.verdict == "pass")
                loaded.insert(check.sentence);
    const auto add = [this](const char* what, const std::set<std::string>& values) {
        report_.scope.push_back({what, {values.begin(), values.end()}});
    };
    add("workloads trained", workloads);
    add("ranks trained", worlds);
    add("precision trained", precision);
    add("devices and backends", devices);
    add("optimizers", optimizers);
    add("torch", torch);
    add("checkpoints loaded", loaded);
}

Status Collector::restore()
{
    Result<std::vector<CheckpointSeen>> seen = project_.checkpoints();
    if (!seen)
        return seen.error();
    std::vector<CheckpointSeen> usable;
    for (CheckpointSeen& checkpoint : *seen) {
        const auto run = std::find_if(report_.runs.begin(), report_.runs.end(),
                                      [&](const ReportRun& r) { return r.info.id == checkpoint.runId; });
        if (run == report_.runs.end() || run->info.auxiliary())
            continue;
        checkpoint.path = whereNow(checkpoint, run->info.folder);
        if (!checkpoint.path.empty())
            usable.push_back(std::move(checkpoint));
    }
    std::stable_sort(usable.begin(), usable.end(),
                     [](const auto& a, const auto& b) { return a.step > b.step; });
    const std::string folder = report_.project.folder;
    if (usable.empty()) {
        const bool script = !report_.runs.empty() && scriptCommandOf(report_.runs.front().info.configJson);
        report_.restore.push_back(
            std::string("No checkpoint of a run of this project is there. ") +
            (script ? "Let the script save one with torch.save" : "Start one with --checkpoint-every N") +
            ", so that there is something to go back to.");
        return {};
    }
    const CheckpointSeen& newest = usable.front();
    if (restoreScript(newest))
        return {};
    report_.restore = restoreSteps(report_.project.folder, usable);
    return {};
}

// The engine cannot go on with what a script saved. False: the engine trained this run.
bool Collector::restoreScript(const CheckpointSeen& checkpoint)
{
    const auto commandOf = [this](const auto& wanted) -> std::optional<ScriptCommand> {
        const auto run = std::find_if(report_.runs.begin(), report_.runs.end(), wanted);
        return run == report_.runs.end() ? std::nullopt : scriptCommandOf(run->info.configJson);
    };
    const std::optional<ScriptCommand> command =
        commandOf([&](const ReportRun& run) { return run.info.id == checkpoint.runId; });
    if (!command)
        return false;
    ScriptRestore from{report_.project.folder, checkpoint.runId, checkpoint.path,
                       checkpoint.step,        *command,         {}};
    if (command->ddp)
        from.onOneProcess = commandOf([](const ReportRun& run) {
            return run.config.mode == "single" && scriptCommandOf(run.info.configJson);
        });
    report_.restore = restoreSteps(from);
    report_.restore.push_back(
        "Hold the first steps against the run before: lockstep-cli compare DIR OLD NEW.");
    return true;
}

// `byPeople`: not one that a gate or a drill made; those are evidence, not the subject.
const ReportRun* Collector::newest(const char* mode, bool byPeople) const
{
    for (const ReportRun& run : report_.runs)
        if (run.config.mode == mode && reachedSteps(run.info) && run.info.auxiliary() != byPeople)
            return &run;
    return nullptr;
}

void Collector::subject()
{
    const ReportRun* run = newest("ddp", true);
    if (!run)
        run = newest("ddp", false);
    if (!run)
        run = newest("single", true);
    if (!run)
        return;
    report_.subject = run->info.id;
    report_.configuration = flatten(run->config);
    report_.environment = members(run->info.environmentJson);
}

std::optional<ReportCurve> Collector::loss(const ReportRun& run) const
{
    Result<RunReader> reader = RunReader::open(run.info.folder);
    if (!reader)
        return std::nullopt;
    const Result<LossCurve> curve = lossOverRanks(*reader);
    if (!curve || curve->steps.empty())
        return std::nullopt;
    return ReportCurve{run.info.id, {curve->steps.begin(), curve->steps.end()}, curve->values};
}

void Collector::plots()
{
    ReportPlot compared{"Loss, mean over the ranks", "loss", {}, {}};
    for (const char* mode : {"single", "ddp"}) {
        const ReportRun* run = newest(mode, true);
        if (!run)
            run = newest(mode, false);
        if (run)
            if (std::optional<ReportCurve> curve = loss(*run))
                compared.curves.push_back(std::move(*curve));
    }
    if (!compared.curves.empty())
        report_.plots.push_back(std::move(compared));
    // The newest run that changed its number of ranks: one curve, with a mark at each change.
    for (const ReportRun& run : report_.runs) {
        if (run.segments.empty())
            continue;
        Result<RunReader> reader = RunReader::open(run.info.folder);
        std::optional<ReportCurve> curve = loss(run);
        if (!reader || !curve)
            continue;
        ReportPlot plot{"Loss of a run that changed its number of ranks", "loss", {std::move(*curve)}, {}};
        if (const Result<std::vector<SegmentInfo>> segments = reader->segments(); segments)
            for (const SegmentInfo& segment : *segments)
                plot.marks.push_back({double(segment.firstStep), counted(segment.world, "rank", "ranks")});
        report_.plots.push_back(std::move(plot));
        break;
    }
}

Result<MigrationReport> Collector::collect()
{
    if (Status gates = this->gates(); !gates)
        return gates.error();
    if (Status runs = this->runs(); !runs)
        return runs.error();
    scope();
    if (Status restore = this->restore(); !restore)
        return restore.error();
    subject();
    plots();
    return std::move(report_);
}

} // namespace

Result<MigrationReport> collectReport(ProjectStore& project, std::int64_t nowUnixMs)
{
    return Collector(project, nowUnixMs).collect();
}

} // namespace lockstep
