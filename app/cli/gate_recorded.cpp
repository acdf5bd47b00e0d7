#include "app/cli/gate_recorded.h"

#include "core/config/run_extras.h"
#include "core/config/script_words.h"
#include "core/gates/gradients_recorded.h"
#include "core/gates/kept_envelope.h"
#include "core/gates/sample_agreement.h"
#include "core/store/run_reader.h"

#include <QDateTime>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

namespace lockstep {

namespace {

constexpr int kRepeatsWanted = 4; // with the run itself what an envelope takes

// The same command but for how it was recorded and with how many threads.
bool sameCommand(const ScriptCommand& a, const ScriptCommand& b)
{
    const auto arguments = [](const ScriptCommand& c) {
        return std::vector<std::string>(c.words.begin() + (c.words.empty() ? 0 : 1), c.words.end());
    };
    return a.program == b.program && a.folder == b.folder && a.world == b.world &&
           arguments(a) == arguments(b);
}

std::string howToRepeat(const std::string& folder, const RunInfo& single)
{
    const std::optional<ScriptCommand> command = scriptCommandOf(single.configJson);
    const int threads = command ? command->threads : 1;
    return fmt::format(
        "Record {0} repeats of {1} with other numbers of threads, which add up in another order: "
        "{2}lockstep-cli "
        "probe {3} --name {4} --threads {5} -- {6}, then the same with {7} to {8} threads; then judge again",
        kRepeatsWanted, single.id, command ? "in " + command->folder + ", " : std::string(),
        commandLineOf({folder}), commandLineOf({fmt::format("{}-t{}", single.name, threads + 1)}),
        threads + 1, command ? commandLineOf(command->words) : std::string("COMMAND"), threads + 2,
        threads + kRepeatsWanted);
}

// The readers of the records; a deque, because the records point into it.
class Records
{
public:
    Status add(GradientsRun::Role role, const RunInfo& run)
    {
        Result<RunConfig> config = runConfigFromJson(run.configJson);
        if (!config)
            return config.error();
        Result<RunReader> reader = RunReader::open(run.folder);
        if (!reader)
            return reader.error();
        readers_.push_back(std::move(reader).value());
        records_.push_back({role, std::move(config).value(), &readers_.back()});
        return {};
    }
    RunReader& baseline() { return *records_.front().reader; } // added first
    const std::vector<GradientsRecord>& all() const { return records_; }

private:
    std::deque<RunReader> readers_;
    std::vector<GradientsRecord> records_;
};

Status addRepeats(ProjectStore& project, const RunInfo& single, Records& records)
{
    const std::optional<ScriptCommand> command = scriptCommandOf(single.configJson);
    Result<std::vector<RunInfo>> runs = project.runs();
    if (!runs)
        return runs.error();
    for (const RunInfo& run : *runs) {
        const std::optional<ScriptCommand> other = scriptCommandOf(run.configJson);
        if (!command || !other || run.id == single.id || run.state != RunState::Finished ||
            !sameCommand(*command, *other))
            continue;
        Result<RunReader> reader = RunReader::open(run.folder);
        if (!reader)
            continue; // a damaged store is no evidence
        const Result<bool> repeats = repeatsBaseline(records.baseline(), *reader);
        if (!repeats)
            return repeats.error();
        if (*repeats)
            if (Status added = records.add(GradientsRun::Role::Repeat, run); !added)
                return added;
    }
    return {};
}

// For later comparisons of these scripts. Where none was judged by, an envelope of an earlier judgement goes.
Status keepEnvelopeOf(const std::string& folder, const GateInfo& gate, const Records& records,
                      const RunConfig& ddp)
{
    const bool judged = std::any_of(gate.checks.begin(), gate.checks.end(), [](const GateCheck& check) {
        return check.id == "gradients.loss" && check.verdict != "cannot_judge";
    });
    if (!judged)
        return keepEnvelope(folder, nullptr);
    std::vector<RunReader*> repeats;
    for (const GradientsRecord& record : records.all())
        if (record.role != GradientsRun::Role::Ddp)
            repeats.push_back(record.reader);
    // A script trains as it is: with clipping or mixed precision its envelope is of these.
    const bool plain = ddp.amp == "off" && ddp.clipNorm <= 0 && ddp.clipValue <= 0;
    return keepMeasuredEnvelope(folder, repeats, plain ? KeptBy::Gradients : KeptBy::Precision, ddp);
}

GateCheck notPossible(const char* id, std::string sentence, std::string fix)
{
    GateCheck check;
    check.id = id;
    check.verdict = "cannot_judge";
    check.value = "not judged";
    check.sentence = std::move(sentence);
    check.fix = std::move(fix);
    return check;
}

} // namespace

Result<std::optional<RecordedPair>> scriptRuns(ProjectStore& project, const GateRequest& request)
{
    if (request.configGiven)
        return std::optional<RecordedPair>();
    Result<std::optional<RunInfo>> ddp = newestSeveral(project, request);
    if (!ddp)
        return ddp.error();
    Result<std::optional<RunInfo>> single = newestSingle(project, request.single, *ddp);
    if (!single)
        return single.error();
    // The run of several ranks is what a gate is about.
    const std::optional<RunInfo>& about = *ddp ? *ddp : *single;
    if (!about || !ofScript(*about))
        return std::optional<RecordedPair>();
    if (*single && !ofScript(**single))
        single->reset();
    return std::optional(RecordedPair{std::move(single).value(), std::move(ddp).value()});
}

Result<GateInfo> judgeRecordedPhase(ProjectStore& project, const RecordedPair& pair)
{
    if (!pair.ddp || !pair.single)
        return Error{ErrorKind::NotFound, "Phase 2 cannot be judged",
                     pair.ddp ? "no run of the script in one process is recorded"
                              : "no run of the script with several ranks is recorded",
                     pair.ddp
                         ? "Record one: lockstep-cli probe DIR -- python train.py"
                         : "Record one: lockstep-cli probe DIR -- torchrun --nproc-per-node 2 train_ddp.py"};
    Records records;
    if (Status added = records.add(GradientsRun::Role::Baseline, *pair.single); !added)
        return added.error();
    if (Status added = records.add(GradientsRun::Role::Ddp, *pair.ddp); !added)
        return added.error();
    if (Status added = addRepeats(project, *pair.single, records); !added)
        return added.error();
    Result<GateInfo> gate =
        judgeRecordedGradients(records.all(), howToRepeat(project.info().folder, *pair.single));
    if (!gate)
        return gate.error();
    if (Status kept = keepEnvelopeOf(project.info().folder, *gate, records, records.all()[1].config); !kept)
        return kept.error();
    gate->judgedUnixMs = QDateTime::currentMSecsSinceEpoch();
    return gate;
}

GateInfo engineOnlyGate(const std::string& phase, const RecordedPair& pair)
{
    const std::optional<RunInfo>& run = pair.ddp ? pair.ddp : pair.single;
    const std::string why = fmt::format(
        "Not possible for a script of your own: this gate starts, saves, resumes and breaks trainings of the "
        "engine's workloads, and {} is a run of your script. No run was started.",
        run->id);
    GateInfo gate;
    gate.phase = phase;
    gate.verdict = "cannot_judge";
    gate.configJson = run->configJson;
    if (phase == "precision")
        gate.checks = {
            notPossible(
                "precision.saved", why,
                "Check the files the script writes: lockstep-cli ckpt verify FILE and lockstep-cli ckpt "
                "load-check FILE"),
            notPossible(
                "precision.resume",
                "Whether your script goes on as if it had not stopped shows when it is recorded both ways.",
                "Record the run that goes on from a checkpoint and compare it with the uninterrupted one "
                "(lockstep-cli probe, then compare); then override this gate with what you found")};
    else
        gate.checks = {
            notPossible("drills.kill", why,
                        "End one rank of the script with kill -9 under lockstep-cli probe: the run "
                        "names the rank that was lost; then override this gate with what you found")};
    gate.judgedUnixMs = QDateTime::currentMSecsSinceEpoch();
    return gate;
}

} // namespace lockstep
