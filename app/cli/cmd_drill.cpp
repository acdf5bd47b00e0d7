// drill: breaks a training on purpose, on real processes, and says who knew what when.
#include "app/cli/cli_context.h"
#include "app/cli/degrade_runs.h"
#include "app/cli/drill_runs.h"
#include "app/cli/gate_request.h"
#include "app/cli/run_options.h"
#include "app/cli/stopped.h"
#include "app/cli/table.h"
#include "core/host/launch_environment.h"

#include <QCoreApplication>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>

namespace lockstep {

namespace {

constexpr std::int64_t kLastStep = 1'000'000; // a drill trains until the step in which it breaks
constexpr std::int64_t kDegradeSteps = 5;     // the changes are drawn in fifths of the run
constexpr double kLongestTimeout = 86'400;    // a day

struct DrillCommand {
    std::string folder;
    std::string what = "all"; // a word of drill_plan.h, "all", "advise", "degrade"
    bool toOne = false;       // degrade: to one process
    RunConfigOptions config;
    bool configGiven = false;
    std::string run; // advise: this recorded run
    bool worldGiven = false;
    bool stepsGiven = false;
    std::optional<int> rank;          // absent: drawn
    std::optional<std::int64_t> step; // absent: drawn
    int count = 1;
    std::uint64_t seed = 0;        // 0: drawn
    std::optional<double> timeout; // absent: recommended by a measured run
};

void printAdvice(const TimeoutAdvice& advice)
{
    fmt::print("recommended collective timeout: {:g} s for {} ranks (now {:g} s)\n", advice.timeout,
               advice.world, advice.current);
    Table table({{"term"}, {"value", Align::Right}});
    for (const AdviceTerm& term : advice.terms)
        table.row({term.label, term.value});
    fmt::print("{}{}\n", table.text(), advice.sentence);
}

void printOutcome(const DrillOutcome& outcome)
{
    fmt::print("\n{}: {}, rank {}, step {}, run {}\n", drillInfo(outcome.drill.kind).title,
               outcome.holds ? "holds" : "fails", outcome.drill.rank, outcome.step, outcome.runId);
    Table checks({{"verdict"}, {"check"}, {"number", Align::Right}, {"limit", Align::Right}});
    for (const GateCheck& check : outcome.checks)
        checks.row({check.verdict == "pass" ? "holds" : "fails", check.id, check.value, check.limit});
    fmt::print("{}", checks.text());
    for (const GateCheck& check : outcome.checks)
        if (check.verdict != "pass")
            fmt::print("  {}: {}\n", check.id, check.sentence);
    if (outcome.timeline.empty())
        return;
    Table timeline({{"after", Align::Right}, {"who"}, {"what"}, {"said"}});
    for (const TimelineEntry& entry : outcome.timeline)
        timeline.row({fmt::format("{:+.4f} s", entry.seconds),
                      entry.rank < 0 ? std::string("host") : fmt::format("rank {}", entry.rank), entry.kind,
                      entry.text.substr(0, 120)});
    fmt::print("{}", timeline.text());
}

Error refused(const char* option, const std::string& value, std::string why)
{
    return {ErrorKind::Usage, fmt::format("--{} {} cannot be used", option, value), std::move(why),
            "Choose another value"};
}

// What would break nothing and so never end. `base` is what is trained.
Status checkPlace(const DrillCommand& command, const RunConfig& base)
{
    if (command.rank && (*command.rank < 0 || *command.rank >= base.world))
        return refused("rank", fmt::format("{}", *command.rank),
                       fmt::format("the {} ranks are 0 to {}", base.world, base.world - 1));
    const std::int64_t last = command.stepsGiven && base.steps > 0 ? base.steps : kLastStep;
    if (command.step && (*command.step < 1 || *command.step > last))
        return refused("step", fmt::format("{}", *command.step), fmt::format("the steps are 1 to {}", last));
    if (command.what == "degrade" && command.stepsGiven && base.steps < kDegradeSteps)
        return refused("steps", fmt::format("{}", base.steps),
                       fmt::format("a run that changes its ranks twice needs at least {}", kDegradeSteps));
    return {};
}

// What does not depend on what is trained.
Status checkOptions(const DrillCommand& command)
{
    if (command.timeout && !(*command.timeout > 0 && *command.timeout <= kLongestTimeout))
        return refused("timeout", fmt::format("{:g}", *command.timeout),
                       fmt::format("it has to be above 0 and at most {:.0f} seconds", kLongestTimeout));
    return {};
}

// What the command line says, else what the newest DDP run trains.
Result<RunConfig> baseConfig(ProjectStore& project, const DrillCommand& command)
{
    Result<RunConfig> config = command.config.config(project.info().workload);
    if (!config)
        return config.error();
    if (!command.configGiven) {
        const Result<std::optional<RunInfo>> run = newestRun(project, "ddp", {});
        if (!run)
            return run.error();
        if (*run)
            config = runConfigFromJson((*run)->configJson);
        if (!config)
            return config.error();
    }
    config->mode = "ddp";
    if (command.worldGiven && config->world < 2)
        return refused("world", fmt::format("{}", config->world), "a drill needs at least 2 ranks");
    config->world = std::max(config->world, 2);
    if (Status valid = validate(*config); !valid)
        return valid.error();
    return config;
}

int adviseFrom(CliContext& context, const RunInfo& run)
{
    Result<RunReader> reader = RunReader::open(run.folder);
    if (!reader)
        return fail(reader.error());
    const Result<TimeoutAdvice> advice = adviseTimeout(*reader);
    if (!advice)
        return fail(advice.error());
    if (context.json) {
        JsonDocument json;
        json.beginObject().key("run").text(run.id);
        writeAdvice(json, *advice);
        json.endObject();
        json.print();
    } else {
        printAdvice(*advice);
    }
    return 0;
}

// The kinds to play: one, or all; `count` of them, drawn where there are several.
Result<std::vector<DrillKind>> wanted(const DrillCommand& command)
{
    std::vector<DrillKind> kinds;
    if (command.what == "all") {
        for (const DrillInfo& info : allDrills())
            kinds.push_back(info.kind);
    } else {
        const Result<DrillKind> kind = drillByWord(command.what);
        if (!kind)
            return kind.error();
        kinds.push_back(*kind);
    }
    std::vector<DrillKind> plan;
    const std::size_t count = command.what == "all"
                                  ? std::max<std::size_t>(std::size_t(command.count), kinds.size())
                                  : std::size_t(command.count);
    for (std::size_t i = 0; i < count; ++i)
        plan.push_back(kinds[i % kinds.size()]);
    return plan;
}

int play(CliContext& context, const DrillCommand& command, const DrillSession& session, const RunConfig& base)
{
    DrillSetup setup;
    setup.base = base;
    if (base.checkpointEvery > 0)
        setup.checkpointEvery = base.checkpointEvery;
    const Result<std::vector<DrillKind>> kinds = wanted(command);
    if (!kinds)
        return fail(kinds.error());
    JsonDocument json;
    json.beginObject();
    setup.timeout = command.timeout.value_or(0);
    if (!command.timeout) {
        setup.timeout = base.collectiveTimeoutSeconds;
        const Result<TimeoutAdvice> advice = measureTimeout(session, setup);
        if (!advice)
            return failOrStopped(advice.error());
        setup.timeout = advice->timeout;
        json.key("timeout").beginObject();
        writeAdvice(json, *advice);
        json.endObject();
        if (!context.json)
            printAdvice(*advice);
    }
    const std::uint64_t seed = command.seed > 0 ? command.seed : std::random_device{}();
    std::mt19937_64 draw(seed);
    int passed = 0;
    double closest = 0, closestLimit = -1; // below 0: nothing had to end
    json.key("seed").unsignedNumber(seed).key("drills").beginArray();
    for (const DrillKind kind : *kinds) {
        const Result<DrillOutcome> outcome = playDrill(
            session, planDrill(kind, setup, command.rank.value_or(-1), command.step.value_or(0), draw()));
        if (!outcome)
            return failOrStopped(outcome.error());
        passed += outcome->holds;
        if (kind != DrillKind::Slow &&
            (closestLimit < 0 || outcome->goneAfter - outcome->limit > closest - closestLimit)) {
            closest = outcome->goneAfter;
            closestLimit = outcome->limit;
        }
        if (!context.json) {
            printOutcome(*outcome);
            std::fflush(stdout);
        }
        json.beginObject();
        writeOutcome(json, *outcome);
        json.endObject();
    }
    json.endArray().key("passed").number(passed).key("of").number(std::int64_t(kinds->size()));
    json.key("closest_to_limit").beginObject().key("gone_after").real(closest);
    json.key("limit").real(closestLimit).endObject();
    const bool all = passed == int(kinds->size());
    json.key("verdict").text(all ? "pass" : "fail").endObject();
    if (context.json)
        json.print();
    else
        fmt::print("\n{} of {} drills hold. Closest to its limit: all gone after {:.2f} s, limit {:.4g} s. "
                   "Seed {}.\n",
                   passed, kinds->size(), closest, closestLimit, seed);
    return all ? 0 : 1;
}

void printOutcome(const DegradeOutcome& outcome)
{
    fmt::print("\nEscape hatch: {}, run {}\n", outcome.holds ? "holds" : "fails", outcome.runId);
    Table checks({{"verdict"}, {"check"}, {"number", Align::Right}, {"limit", Align::Right}});
    for (const GateCheck& check : outcome.checks)
        checks.row({check.verdict == "pass" ? "holds" : "fails", check.id, check.value, check.limit});
    fmt::print("{}", checks.text());
    for (const GateCheck& check : outcome.checks)
        fmt::print("  {}: {}\n", check.id, check.sentence);
}

int degrade(CliContext& context, const DrillCommand& command, const DrillSession& session,
            const RunConfig& base)
{
    DegradeSetup setup;
    setup.drill.base = base;
    setup.drill.timeout = command.timeout.value_or(base.collectiveTimeoutSeconds);
    setup.drill.checkpointEvery =
        base.checkpointEvery > 0 ? base.checkpointEvery : setup.drill.checkpointEvery;
    setup.toOneProcess = command.toOne;
    if (command.configGiven && base.steps > 0)
        setup.steps = base.steps;
    Result<DegradeReference> reference = DegradeReference::measure(session, setup);
    if (!reference)
        return failOrStopped(reference.error());
    const std::uint64_t seed = command.seed > 0 ? command.seed : std::random_device{}();
    std::mt19937_64 draw(seed);
    int passed = 0;
    JsonDocument json;
    json.beginObject().key("seed").unsignedNumber(seed).key("drills").beginArray();
    for (int i = 0; i < command.count; ++i) {
        const Result<DegradeOutcome> outcome = playDegrade(session, setup, *reference, draw());
        if (!outcome)
            return failOrStopped(outcome.error());
        passed += outcome->holds;
        json.beginObject();
        writeOutcome(json, *outcome);
        json.endObject();
        if (!context.json)
            printOutcome(*outcome);
    }
    json.endArray().key("passed").number(passed).key("of").number(command.count);
    json.key("verdict").text(passed == command.count ? "pass" : "fail").endObject();
    if (context.json)
        json.print();
    return passed == command.count ? 0 : 1;
}

int drillCommand(CliContext& context, const DrillCommand& command)
{
    if (const Status valid = checkOptions(command); !valid)
        return fail(valid.error());
    Result<ProjectStore> project = ProjectStore::open(command.folder);
    if (!project)
        return fail(project.error());
    if (command.what == "advise") {
        Result<std::optional<RunInfo>> run = newestRun(*project, "ddp", command.run);
        if (!run)
            return fail(run.error());
        if (!*run)
            return fail({ErrorKind::NotFound, "There is no run to take a timeout from",
                         "the project has no DDP run that reached a step",
                         "Record one: lockstep-cli run DIR --mode ddp --checkpoint-every 50"});
        return adviseFrom(context, **run);
    }
    const Result<RunConfig> base = baseConfig(*project, command);
    if (!base)
        return fail(base.error());
    if (const Status possible = checkPlace(command, *base); !possible)
        return fail(possible.error());
    QCoreApplication app(context.argc, context.argv);
    StopSignals signals;
    Result<std::string> worker = findWorker();
    if (!worker)
        return fail(worker.error());
    const DrillSession session{project->info().folder, *worker, signals};
    return command.what == "degrade" ? degrade(context, command, session, *base)
                                     : play(context, command, session, *base);
}

} // namespace

void addDrillCommand(CLI::App& app, CliContext& context)
{
    auto options = std::make_shared<DrillCommand>();
    auto mode = std::make_shared<CLI::Option*>(nullptr);
    auto own = std::make_shared<std::vector<const CLI::Option*>>();
    auto self = std::make_shared<CLI::App*>(nullptr);
    CLI::App* command = context.command(
        app, "drill", "Break a training on purpose and see who notices when; or recommend a timeout",
        [&context, options, mode, own, self] {
            options->configGiven = configWritten(**self, *own);
            options->worldGiven = (*self)->get_option("--world")->count() > 0;
            options->stepsGiven = (*self)->get_option("--steps")->count() > 0;
            if ((*mode)->count() == 0) {
                (*mode)->add_result("ddp"); // a drill needs peers
                (*mode)->run_callback();
            }
            return drillCommand(context, *options);
        });
    command->add_option("folder", options->folder, "project folder")->required()->option_text("DIR");
    std::string kinds = "all|advise|degrade";
    for (const DrillInfo& info : allDrills())
        kinds += "|" + std::string(info.word);
    command->add_option("kind,--kind", options->what, "what breaks (default all)")->option_text(kinds);
    command->add_option("--rank", options->rank, "the rank that breaks (default: drawn)")->option_text("R");
    command->add_option("--step", options->step, "in which step (default: drawn)")->option_text("S");
    command->add_option("--count", options->count, "how many drills (default: one of each)")
        ->check(CLI::Range(1, 100'000))
        ->option_text("N");
    command->add_option("--draw-seed", options->seed, "draws the same ranks and steps again")
        ->option_text("S");
    command
        ->add_option("--timeout", options->timeout,
                     "collective timeout in seconds (default: recommended by a measured run)")
        ->option_text("S");
    command->add_flag("--to-one", options->toOne, "degrade: to one process, not to the ranks that are left");
    command->add_option("--run", options->run, "advise: from this run (default: the newest)")
        ->option_text("RUN");
    *self = command;
    for (const CLI::Option* option : command->get_options())
        own->push_back(option);
    options->config.addTo(*command);
    *mode = command->get_option("--mode");
}

} // namespace lockstep
