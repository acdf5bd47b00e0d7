// gate: judges one phase, stores the verdict, or overrides it with a written reason.
#include "app/cli/cli_context.h"
#include "app/cli/gate_drills.h"
#include "app/cli/gate_gradients.h"
#include "app/cli/gate_kept.h"
#include "app/cli/gate_precision.h"
#include "app/cli/gate_recorded.h"
#include "app/cli/gate_request.h"
#include "app/cli/json_output.h"
#include "app/cli/stopped.h"
#include "app/cli/table.h"
#include "core/gates/phase_state.h"

#include <QCoreApplication>

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace lockstep {

namespace {

constexpr std::size_t kValueWidth = 40; // of a number and a limit in the table

int exitCode(const GateInfo& gate)
{
    if (gatePassed(gate))
        return 0;
    return gate.verdict == "fail" ? 1 : 3;
}

Result<GateInfo> storedGate(ProjectStore& project, const std::string& phase)
{
    Result<std::vector<GateInfo>> gates = project.gates();
    if (!gates)
        return gates.error();
    for (GateInfo& gate : *gates)
        if (gate.phase == phase && gate.judgedUnixMs > 0)
            return std::move(gate);
    return Error{ErrorKind::NotFound, fmt::format("The gate {} was not judged yet", phase), "",
                 "Judge it once"};
}

void printJson(const GateInfo& gate, const std::string& findingsJson, bool kept)
{
    JsonDocument json;
    const auto place = [&json](const char* key, std::int64_t value) {
        json.key(key);
        if (value < 0)
            json.null();
        else
            json.number(value);
    };
    json.beginObject().key("phase").text(gate.phase).key("verdict").text(gate.verdict);
    json.key("passed").raw(gatePassed(gate) ? "true" : "false").key("kept").raw(kept ? "true" : "false");
    json.key("override");
    if (gate.overrideReason.empty())
        json.null();
    else
        json.text(gate.overrideReason);
    json.key("checks").beginArray();
    for (const GateCheck& check : gate.checks) {
        json.beginObject().key("id").text(check.id).key("verdict").text(check.verdict);
        json.key("value").text(check.value).key("limit").text(check.limit);
        place("step", check.step);
        place("rank", check.rank);
        if (!check.parameter.empty())
            json.key("parameter").text(check.parameter);
        json.key("sentence").text(check.sentence).key("fix").text(check.fix).key("cause");
        if (check.cause.empty())
            json.null();
        else
            json.text(check.cause);
        json.key("evidence").raw(check.evidenceJson).endObject();
    }
    json.endArray();
    if (!findingsJson.empty())
        json.key("data").raw(findingsJson);
    json.endObject();
    json.print();
}

void printText(const GateInfo& gate)
{
    std::size_t holding = 0;
    for (const GateCheck& check : gate.checks)
        holding += check.verdict == "pass";
    const char* word = !gate.overrideReason.empty() ? "overridden"
                       : gate.verdict == "pass"     ? "passed"
                       : gate.verdict == "fail"     ? "fails"
                                                    : "cannot judge";
    fmt::print("gate {}: {}, {} of {} checks hold\n", gate.phase, word, holding, gate.checks.size());
    Table table({{"verdict"},
                 {"check"},
                 {"number", Align::Right, kValueWidth},
                 {"limit", Align::Right, kValueWidth},
                 {"cause"}});
    for (const GateCheck& check : gate.checks)
        table.row({check.verdict == "pass"   ? "holds"
                   : check.verdict == "fail" ? "fails"
                                             : "not judged",
                   check.id, check.value, check.limit, check.cause});
    fmt::print("{}", table.text());
    for (const GateCheck& check : gate.checks) {
        // Where nothing fails, what could not be judged is what keeps the gate closed.
        if (check.verdict == "pass" || (check.verdict != "fail" && gate.verdict != "cannot_judge"))
            continue;
        fmt::print("\n{}: {}\n", check.id, check.sentence);
        if (check.value.size() > kValueWidth || check.limit.size() > kValueWidth) // cut above
            fmt::print("  {}, limit {}\n", check.value, check.limit);
        if (!check.fix.empty())
            fmt::print("  fix: {}\n", check.fix);
    }
    for (const GateCheck& check : gate.checks)
        if (check.verdict == "pass" && !check.cause.empty())
            fmt::print("\n{}, a note: {}\n", check.id, check.sentence);
    if (!gate.overrideReason.empty())
        fmt::print("\noverridden: {}\n", gate.overrideReason);
}

Result<GateInfo> judge(CliContext& context, ProjectStore& project, const GateRequest& request,
                       std::string& findings)
{
    std::optional<QCoreApplication> qt; // finds the worker beside this program; later gates make their own
    if (request.phase == "preflight" || request.phase == "data")
        qt.emplace(context.argc, context.argv);
    if (request.phase == "preflight")
        return judgePreflightPhase(project, request);
    if (request.phase == "data")
        return judgeDataPhase(context, project, request, findings);
    // The phases that train, except where what is trained is a script, which the engine does not know.
    const Result<std::optional<RecordedPair>> scripts = scriptRuns(project, request);
    if (!scripts)
        return scripts.error();
    if (*scripts)
        return request.phase == "gradients" ? judgeRecordedPhase(project, **scripts)
                                            : Result(engineOnlyGate(request.phase, **scripts));
    Result<std::optional<RunInfo>> run = newestRun(project, "ddp", request.run);
    if (!run)
        return run.error();
    Result<RunConfig> config = intendedDdp(project, request, *run);
    if (!config)
        return config.error();
    const auto progress = [&context](const std::string& text) {
        if (context.json)
            return;
        fmt::print("{}\n", text);
        std::fflush(stdout); // a pipe holds lines back otherwise, and the runs of a gate take minutes
    };
    if (request.phase == "gradients") {
        GradientsRequest gradients;
        gradients.base = *config;
        gradients.world = config->world;
        if (config->steps > 0)
            gradients.steps = config->steps;
        return runGradientsGate(context, request.folder, gradients, progress);
    }
    if (request.phase == "precision") {
        PrecisionRequest precision;
        precision.base = *config;
        precision.world = config->world;
        return runPrecisionGate(context, request.folder, precision, progress);
    }
    if (request.phase == "drills")
        return runDrillsGate(context, project.info().folder, *config, progress);
    return Error{ErrorKind::Environment, fmt::format("The gate {} cannot be judged", request.phase),
                 "this version has no judge for it", "Override it with a written reason"};
}

int gateCommand(CliContext& context, const GateRequest& request)
{
    Result<ProjectStore> project = ProjectStore::open(request.folder);
    if (!project)
        return fail(project.error());
    const Result<std::vector<GateInfo>> gates = project->gates();
    if (!gates)
        return fail(gates.error());
    if (const Status open = requireOpen(request.phase, *gates); !open)
        return fail(open.error());

    std::string findings;
    GateKept kept;
    Result<GateInfo> gate = storedGate(*project, request.phase);
    if (!request.overrideReason || !gate) {
        gate = judge(context, *project, request, findings);
        if (!gate) {
            // A gate that nothing can judge may still be overridden: the reason is what is kept then.
            if (gate.error().kind == ErrorKind::Cancelled || !request.overrideReason ||
                request.overrideReason->empty())
                return failOrStopped(gate.error());
            GateInfo unjudged;
            unjudged.phase = request.phase;
            unjudged.verdict = "cannot_judge";
            gate = unjudged;
        } else {
            // A reason stands beside the verdict that it overrides.
            const Result<GateKept> decided =
                request.overrideReason ? Result<GateKept>(GateKept{}) : keptGate(*project, request, *gate);
            if (!decided)
                return fail(decided.error());
            kept = *decided;
            if (kept.kept)
                if (const Status saved = project->saveGate(*gate); !saved)
                    return fail(saved.error());
        }
    }
    if (request.overrideReason) {
        if (const Status kept = project->overrideGate(request.phase, *request.overrideReason); !kept)
            return fail(kept.error());
        gate->overrideReason = *request.overrideReason;
    } else if (const Result<GateInfo> stored = storedGate(*project, request.phase);
               kept.kept && stored && !stored->overrideReason.empty()) {
        // A gate that has become green needs no excuse any more.
        if (gate->verdict == "pass") {
            if (const Status dropped = project->overrideGate(request.phase, ""); !dropped)
                return fail(dropped.error());
        } else {
            gate->overrideReason = stored->overrideReason;
        }
    }
    if (context.json)
        printJson(*gate, findings, kept.kept);
    else
        printText(*gate);
    if (!context.json && !kept.sentence.empty())
        fmt::print("\n{}\n", kept.sentence);
    return exitCode(*gate);
}

} // namespace

void addGateCommand(CLI::App& app, CliContext& context)
{
    auto request = std::make_shared<GateRequest>();
    auto own = std::make_shared<std::vector<const CLI::Option*>>();
    auto command = std::make_shared<CLI::App*>(nullptr);
    *command =
        context.command(app, "gate", "Judge one phase of the migration", [&context, request, own, command] {
            request->configGiven = configWritten(**command, *own);
            // A gate is about the run with many ranks; the options themselves start from a single process.
            if (CLI::Option* mode = (*command)->get_option("--mode"); mode->count() == 0) {
                mode->add_result("ddp");
                mode->run_callback();
            }
            request->worldGiven = (*command)->get_option("--world")->count() > 0;
            request->samplerSeedGiven = (*command)->get_option("--sampler-seed")->count() > 0;
            return gateCommand(context, *request);
        });
    CLI::App& c = **command;
    const auto add = [&own](CLI::Option* option, const char* form = nullptr) {
        if (form)
            option->option_text(form);
        own->push_back(option);
        return option;
    };
    add(c.add_option("folder", request->folder, "project folder")->required(), "DIR");
    add(c.add_option("phase", request->phase, "which gate")->required(),
        "preflight|data|gradients|precision|drills");
    add(c.add_option(
            "--override", request->overrideReason,
            "open the next phase although the gate is not green; the reason is kept (empty: take it back)"),
        "REASON");
    add(c.add_option("--run", request->run, "judge this recorded run (default: the newest)"), "RUN");
    add(c.add_option("--single", request->single,
                     "the single-process run to compare with (default: the newest)"),
        "RUN");
    add(c.add_option("--ids", request->ids, "data: judge these id lists (epoch,rank,position,id)")
            ->expected(1)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll),
        "FILE");
    add(c.add_option("--samples", request->samples, "data: size of the dataset")
            ->check(CLI::Range(std::int64_t(0), std::int64_t(1'000'000'000'000))),
        "N");
    add(c.add_option("--workers", request->workers, "data: loader workers per rank (default 2)"), "N");
    add(c.add_option("--fix", request->fixCause,
                     "data: apply the fix for this cause to the plan, then judge it"),
        "CAUSE");
    add(c.add_flag("--eval", request->evaluation, "data: the ids are of an evaluation, each counts once"));
    add(c.add_flag("--stream", request->stream, "data: the dataset is a stream without a length"));
    add(c.add_flag("--keep", request->keep,
                   "preflight, data: keep the verdict as the project's plan although its newest run trains "
                   "something else"));
    add(c.add_flag("--with-loader", request->withLoader,
                   "data: run the workload's real loader on real ranks first"));
    if (CLI::Option* help = c.get_help_ptr())
        own->push_back(help);
    request->config.addTo(c);
    for (const char* name : {"--name", "--sampler-seed"})
        own->push_back(c.get_option(name));
}

} // namespace lockstep
