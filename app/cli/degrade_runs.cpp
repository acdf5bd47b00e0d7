#include "app/cli/degrade_runs.h"

#include "app/cli/drill_parts.h"
#include "core/gates/text.h"
#include "core/host/run_controller.h"
#include "core/host/run_once.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>

namespace lockstep {

namespace {

RunConfig wholeRun(const DegradeSetup& setup)
{
    RunConfig config = drillBaseline(setup.drill);
    config.name = fmt::format("degrade-whole-w{}", config.world);
    config.steps = setup.steps;
    config.checkpointEvery = 0;
    return config;
}

// Correct ways to do the same sums, whatever the model: the ranks' gradients added in rank order, in other buckets, and by
// one process that works through the ranks' micro-batches one after the other.
std::vector<RunConfig> repeats(const RunConfig& whole)
{
    std::vector<RunConfig> plan(4, whole);
    plan[0].reduction = "ordered";
    plan[1].bucketMb = 0.001;
    plan[2].bucketMb = 0.02;
    plan[3].mode = "single";
    plan[3].world = 1;
    plan[3].dataWorld = whole.world;
    static_assert(kMinRepeats <= 5, "the whole run is a repeat too");
    for (std::size_t i = 0; i < plan.size(); ++i)
        plan[i].name = fmt::format("degrade-repeat-{}", i + 1);
    return plan;
}

Result<RunReader> finished(const DrillSession& session, const RunConfig& config)
{
    const Result<RunInfo> run = runOnce(session.projectFolder, config, session.worker, session.signals);
    if (!run)
        return run.error();
    if (run->state != RunState::Finished)
        return Error{ErrorKind::RunFailed,
                     fmt::format("The switch cannot be judged: run {} did not finish", run->id),
                     run->firstFailure.sentence, "Mend the cause and start the drill again"};
    return RunReader::open(run->folder);
}

} // namespace

Result<DegradeReference> DegradeReference::measure(const DrillSession& session, const DegradeSetup& setup)
{
    DegradeReference reference;
    std::vector<RunConfig> plan = {wholeRun(setup)};
    for (RunConfig& repeat : repeats(plan.front()))
        plan.push_back(std::move(repeat));
    for (const RunConfig& config : plan) {
        Result<RunReader> reader = finished(session, config);
        if (!reader)
            return reader.error();
        reference.readers_.push_back(std::move(reader).value());
    }
    std::vector<RunReader*> readers;
    for (RunReader& reader : reference.readers_)
        readers.push_back(&reader);
    Result<Envelope> envelope = measureEnvelope(readers);
    if (!envelope)
        return envelope.error();
    reference.envelope_ = std::move(envelope).value();
    return reference;
}

Result<DegradeOutcome> playDegrade(const DrillSession& session, const DegradeSetup& setup,
                                   DegradeReference& reference, std::uint64_t random)
{
    std::mt19937_64 draw(random);
    RunOptions options;
    options.projectFolder = session.projectFolder;
    options.config = drillBaseline(setup.drill);
    options.config.name = fmt::format("degrade-w{}", options.config.world);
    options.config.steps = setup.steps;
    options.workerPath = session.worker;
    options.restart.armed = true;
    options.restart.toOneProcess = setup.toOneProcess;
    HostDrill drill;
    drill.rank = int(draw() % std::uint64_t(options.config.world));
    // In the second fifth of the run; up again in the fourth.
    const std::int64_t fifth = setup.steps / 5;
    drill.step = fifth + std::int64_t(draw() % std::uint64_t(fifth));
    if (setup.backUp)
        drill.backUpAt = 3 * fifth + std::int64_t(draw() % std::uint64_t(fifth));
    options.drill = drill;
    const Result<RunInfo> run = runOnce(options, session.signals);
    if (!run)
        return run.error();
    Result<RunReader> reader = RunReader::open(run->folder);
    if (!reader)
        return reader.error();
    return judgeDegrade(*run, *reader, reference.whole(), reference.envelope(), setup.backUp ? 2 : 1);
}

void writeOutcome(JsonDocument& json, const DegradeOutcome& outcome)
{
    json.key("drill").text("degrade").key("verdict").text(outcome.holds ? "pass" : "fail");
    json.key("run").text(outcome.runId).key("segments").beginArray();
    for (const SegmentInfo& segment : outcome.segments) {
        json.beginObject().key("first_step").number(segment.firstStep).key("world").number(segment.world);
        json.key("reason").text(segment.reason).endObject();
    }
    json.endArray();
    json.key("steps").number(outcome.steps).key("lost_steps").number(outcome.lostSteps);
    json.key("samples").number(outcome.samples).key("epochs").number(outcome.epochs);
    json.key("repeated").number(outcome.repeated).key("missing").number(outcome.missing);
    json.key("worst").real(outcome.worst).key("worst_step").number(outcome.worstStep);
    json.key("apart").real(outcome.apart).key("of_spread").real(outcome.ofSpread);
    writeParts(json, outcome.checks);
}

GateCheck gateCheck(const DegradeOutcome& outcome)
{
    GateCheck check;
    check.id = "drills.degrade";
    check.verdict = outcome.holds ? "pass" : "fail";
    std::vector<std::string> worlds;
    for (const SegmentInfo& segment : outcome.segments)
        worlds.push_back(std::to_string(segment.world));
    check.value = fmt::format("{:.3g} of the envelope, {} samples wrong", outcome.worst,
                              grouped(outcome.repeated + outcome.missing));
    check.limit = "1, 0";
    check.step = outcome.worstStep;
    check.sentence =
        fmt::format("The run went on with {} ranks; {} steps were done again from the last checkpoint.",
                    fmt::join(worlds, ", then "), grouped(outcome.lostSteps));
    check.evidenceJson = evidenceJson(takeParts(check, outcome.checks, outcome.runId));
    return check;
}

} // namespace lockstep
