#include "app/cli/drill_runs.h"

#include "app/cli/drill_parts.h"
#include "core/ckpt/verify.h"
#include "core/gates/text.h"
#include "core/host/launch_environment.h"
#include "core/host/process_state.h"
#include "core/host/run_controller.h"
#include "core/host/run_once.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace lockstep {

namespace {

std::optional<HostDrill> fromOutside(const Drill& drill)
{
    HostDrill act;
    act.rank = drill.rank;
    act.step = drill.step;
    switch (drill.kind) {
    case DrillKind::Killed:
        act.act = HostDrill::Act::Kill;
        act.delayMicros = drill.step % 7 * 1000; // somewhere in a step, not always at its start
        return act;
    case DrillKind::ConnectionLost:
        act.act = HostDrill::Act::DropConnections;
        return act;
    case DrillKind::HangsInData:
    case DrillKind::HangsInForward:
    case DrillKind::HangsInCollective:
        act.act = HostDrill::Act::Watch;
        act.step = 0; // its last records may never arrive
        return act;
    default:
        return std::nullopt;
    }
}

DrillRemains remainsOf(const RunInfo& run)
{
    DrillRemains remains;
    remains.processes = processesOfRun(run.folder);
    remains.checkpoint = newestCheckpoint(run.folder);
    if (remains.checkpoint.empty())
        return remains;
    const Result<VerifyReport> report = verifyCheckpoint(remains.checkpoint, nullptr);
    if (!report)
        remains.checkpointFault = report.error().sentence();
    else if (!report->passed())
        for (const Verdict& verdict : report->verdicts)
            if (verdict.severity == Severity::Failure && remains.checkpointFault.empty())
                remains.checkpointFault = verdict.sentence;
    return remains;
}

void writePlace(JsonDocument& json, const char* name, std::int64_t value)
{
    json.key(name);
    if (value < 0)
        json.null();
    else
        json.number(value);
}

} // namespace

Result<TimeoutAdvice> measureTimeout(const DrillSession& session, const DrillSetup& setup)
{
    const Result<RunInfo> run =
        runOnce(session.projectFolder, drillBaseline(setup), session.worker, session.signals);
    if (!run)
        return run.error();
    if (run->state != RunState::Finished)
        return Error{ErrorKind::RunFailed,
                     fmt::format("No timeout can be recommended: run {} did not finish", run->id),
                     run->firstFailure.sentence, "Mend the cause and start the drills again"};
    Result<RunReader> reader = RunReader::open(run->folder);
    if (!reader)
        return reader.error();
    return adviseTimeout(*reader);
}

Result<DrillOutcome> playDrill(const DrillSession& session, const Drill& drill)
{
    RunOptions options;
    options.projectFolder = session.projectFolder;
    options.config = drill.config;
    options.workerPath = session.worker;
    options.drill = fromOutside(drill);
    const Result<RunInfo> run = runOnce(options, session.signals);
    if (!run)
        return run.error();
    Result<RunReader> reader = RunReader::open(run->folder);
    if (!reader)
        return reader.error();
    return judgeDrill(drill, *run, *reader, remainsOf(*run));
}

void writeAdvice(JsonDocument& json, const TimeoutAdvice& advice)
{
    json.key("world").number(advice.world);
    json.key("steps").beginObject().key("count").number(advice.steady.count);
    json.key("p50").real(advice.steady.p50).key("p99").real(advice.steady.p99);
    json.key("max").real(advice.steady.max).endObject();
    json.key("first_step").real(advice.firstStep);
    json.key("checkpoint_pause").real(advice.checkpointPause);
    json.key("longest_pause").real(advice.longestPause);
    json.key("start_skew").real(advice.skewPerRank * advice.world);
    json.key("pause_budget").real(advice.pauseBudget);
    json.key("restart").real(advice.restart).key("lost_steps").real(advice.lostSteps);
    json.key("recovery").real(advice.recovery);
    json.key("timeout").real(advice.timeout).key("heartbeat").real(advice.heartbeat);
    json.key("current").real(advice.current).key("steps_over").number(advice.overTimeout);
    json.key("working").beginArray();
    for (const AdviceTerm& term : advice.terms)
        json.beginObject().key("term").text(term.label).key("value").text(term.value).endObject();
    json.endArray().key("sentence").text(advice.sentence);
}

void writeOutcome(JsonDocument& json, const DrillOutcome& outcome)
{
    json.key("drill").text(std::string(drillInfo(outcome.drill.kind).word));
    json.key("verdict").text(outcome.holds ? "pass" : "fail").key("run").text(outcome.runId);
    json.key("world").number(outcome.drill.config.world);
    json.key("rank").number(outcome.drill.rank);
    writePlace(json, "step", outcome.step);
    json.key("planned_step").number(outcome.drill.step);
    json.key("gone_after").real(outcome.goneAfter).key("limit").real(outcome.limit);
    json.key("first_notice").real(outcome.firstNotice);
    writePlace(json, "named_rank", outcome.namedRank);
    json.key("survivors").number(outcome.survivors);
    json.key("survivors_naming").number(outcome.survivorsNaming);
    json.key("lost_steps").number(outcome.lostSteps);
    json.key("sentence").text(outcome.sentence);
    json.key("timeline").beginArray();
    for (const TimelineEntry& entry : outcome.timeline) {
        json.beginObject().key("seconds").real(entry.seconds);
        writePlace(json, "rank", entry.rank);
        json.key("kind").text(entry.kind).key("text").text(entry.text).endObject();
    }
    json.endArray();
    writeParts(json, outcome.checks);
}

GateCheck gateCheck(const DrillOutcome& outcome)
{
    GateCheck check;
    check.id = fmt::format("drills.{}", drillInfo(outcome.drill.kind).word);
    check.verdict = outcome.holds ? "pass" : "fail";
    check.value = fmt::format("{:.2f} s", outcome.goneAfter);
    check.limit = fmt::format("{:.4g} s", outcome.limit);
    check.rank = outcome.drill.rank;
    check.step = outcome.step;
    check.sentence =
        outcome.sentence.empty() ? std::string(drillInfo(outcome.drill.kind).title) + "." : outcome.sentence;
    std::vector<EvidenceRow> rows = takeParts(check, outcome.checks, outcome.runId);
    for (const TimelineEntry& entry : outcome.timeline)
        rows.push_back(
            {fmt::format("{:+.4f} s {}", entry.seconds,
                         entry.rank < 0 ? std::string("host") : fmt::format("rank {}", entry.rank)),
             fmt::format("{}: {}", entry.kind, entry.text)});
    check.evidenceJson = evidenceJson(rows);
    return check;
}

GateCheck gateCheck(const TimeoutAdvice& advice)
{
    GateCheck check;
    check.id = "drills.timeout";
    check.verdict = advice.overTimeout == 0 ? "pass" : "fail";
    check.value = fmt::format("{:g} s", advice.timeout);
    check.limit = "from numbers";
    check.sentence = advice.sentence;
    if (advice.overTimeout > 0)
        check.fix = "Find out why single steps take so long before you shorten the timeout";
    std::vector<EvidenceRow> rows;
    for (const AdviceTerm& term : advice.terms)
        rows.push_back({term.label, term.value});
    check.evidenceJson = evidenceJson(rows);
    return check;
}

} // namespace lockstep
