// diagnose: why two runs part, and on request a proof by replay.
#include "app/cli/cli_context.h"
#include "app/cli/diagnose_proof.h"
#include "app/cli/findings_document.h"
#include "app/cli/opened_run.h"
#include "app/cli/stopped.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

namespace lockstep {

namespace {

struct DiagnoseCommand {
    std::string folder, runA, runB;
    bool prove = false;
};

// The replay of a run whose step is not known is cut here.
constexpr std::int64_t kLongestClean = 2000;

struct Session {
    std::optional<OpenedRun> reference, suspect, twin;
    Diagnosis diagnosis;
    std::vector<ReplayOutcome> replays;
    bool stopped = false;

    static DiagnosedRun seen(OpenedRun& run) { return {&run.reader, traitsOf(run.config)}; }
    bool exact() const
    {
        return reference->config.mode != "single" && suspect->config.mode != "single" &&
               reference->config.world == suspect->config.world;
    }
    Status judge()
    {
        std::optional<DiagnosedRun> replayed;
        if (twin)
            replayed = seen(*twin);
        Result<Diagnosis> judged = diagnose(seen(*reference), seen(*suspect), replayed);
        if (!judged)
            return judged.error();
        diagnosis = std::move(judged).value();
        return {};
    }
};

// Settings that do not decide what is trained.
bool isIncidental(const std::string& key)
{
    static const std::set<std::string> keys = {
        "mode",        "record",           "steps", "epochs",   "resume",
        "align_world", "checkpoint_every", "name",  "log_every", "eval_every"};
    return keys.contains(key);
}

bool sameTraining(const RunConfig& a, const RunConfig& b)
{
    const RunTraits x = traitsOf(a), y = traitsOf(b);
    if (x.settings.size() != y.settings.size())
        return false;
    for (std::size_t i = 0; i < x.settings.size(); ++i)
        if (x.settings[i] != y.settings[i] && !isIncidental(x.settings[i].first))
            return false;
    return true;
}

// The newest run that `fits`, by state and configuration.
template<typename Fits>
Result<std::optional<OpenedRun>> newest(ProjectStore& project, Fits fits)
{
    const Result<std::vector<RunInfo>> runs = project.runs();
    if (!runs)
        return runs.error();
    for (const RunInfo& info : *runs) {
        const Result<RunConfig> config = runConfigFromJson(info.configJson);
        if (!config || info.state == RunState::Running || info.lastStep < 0 || !fits(info, *config))
            continue;
        Result<OpenedRun> opened = openRun(project, info.id);
        if (!opened)
            return opened.error();
        return std::optional(std::move(opened).value());
    }
    return std::optional<OpenedRun>();
}

Status openPair(ProjectStore& project, const DiagnoseCommand& command, Session& session)
{
    if (!command.runA.empty()) {
        for (const auto& [name, run] :
             {std::pair(command.runA, &session.reference), std::pair(command.runB, &session.suspect)}) {
            Result<OpenedRun> opened = openRun(project, name);
            if (!opened)
                return opened.error();
            run->emplace(std::move(opened).value());
        }
        return {};
    }
    auto suspect = newest(project, [](const RunInfo& run, const RunConfig& c) {
        return !run.auxiliary() && (c.mode == "ddp" || c.mode == "fsdp");
    });
    auto reference = newest(project, [](const RunInfo& run, const RunConfig& c) {
        return !run.auxiliary() && c.mode == "single";
    });
    if (suspect && *suspect && reference && !*reference)
        reference = newest(project, [&](const RunInfo&, const RunConfig& c) {
            return c.mode == "twin" && c.world == (*suspect)->config.world;
        });
    if (!suspect)
        return suspect.error();
    if (!reference)
        return reference.error();
    if (!*suspect || !*reference)
        return Error{ErrorKind::NotFound, "There is no pair of runs to diagnose",
                     *suspect ? "no run of a single process has ended" : "no DDP run has ended",
                     "Run both, or name the two runs"};
    session.suspect.emplace(std::move(**suspect));
    session.reference.emplace(std::move(**reference));
    return {};
}

// A replay of the suspect as it was configured, without deviations, if the project has one.
Status findTwin(ProjectStore& project, Session& session)
{
    if (session.exact())
        return {};
    auto twin = newest(project, [&](const RunInfo& info, const RunConfig& config) {
        return config.mode == "twin" && config.faults.empty() && info.id != session.suspect->info.id &&
               info.lastStep >= session.suspect->info.lastStep &&
               sameTraining(config, session.suspect->config);
    });
    if (!twin)
        return twin.error();
    if (*twin)
        session.twin.emplace(std::move(**twin));
    return {};
}

void say(bool json, const std::string& text)
{
    if (!json)
        fmt::print(stderr, "{}\n", text);
}

bool anyAboveBenign(const Diagnosis& diagnosis)
{
    return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                       [](const Finding& f) { return f.certainty != Certainty::Benign; });
}

// Holds the suspect against a clean replay first, where nothing recorded is exact; then replays one cause after another.
Status prove(CliContext& context, Session& session)
{
    const OpenedRun& suspect = *session.suspect;
    Result<ReplayRunner> runner = ReplayRunner::create(context, suspect.config, suspect.info.lastStep);
    if (!runner)
        return runner.error();
    int left = kMaxReplays;
    const bool settingsDiffer = session.exact() && !sameTraining(session.reference->config, suspect.config);
    const bool onlyEvents = session.diagnosis.firstStep < 0 && anyAboveBenign(session.diagnosis);
    bool clean = false; // the suspect is what its own settings give
    if ((!session.exact() && !session.twin) || settingsDiffer || onlyEvents) {
        const bool known = anyAboveBenign(session.diagnosis);
        const std::int64_t until = known ? replayUntil(session.diagnosis, suspect.info.lastStep)
                                         : std::min(suspect.info.lastStep, kLongestClean);
        --left;
        const Result<std::string> folder = runner->clean(until);
        if (!folder)
            return folder.error();
        Result<RunReader> reader = RunReader::open(*folder);
        if (!reader)
            return reader.error();
        const Result<ReplayVerdict> verdict = compareReplay(*reader, session.suspect->reader, 0, until);
        if (!verdict)
            return verdict.error();
        clean = verdict->equal;
        say(context.json,
            fmt::format("replay without a deviation: {}",
                        clean ? "equal in every bit"
                              : fmt::format("parts at step {}, {}", verdict->step, verdict->quantity)));
        session.replays.push_back(
            {{"none", {}}, clean ? ReplayOutcome::Equal : ReplayOutcome::Differs, *verdict, {}});
        if (!session.exact() && !session.twin) {
            RunConfig config = suspect.config;
            config.mode = "twin";
            config.faults.clear();
            session.twin.emplace(OpenedRun{suspect.info, std::move(config), std::move(reader).value()});
            if (Status judged = session.judge(); !judged)
                return judged;
        }
    }
    if (clean || !anyAboveBenign(session.diagnosis)) {
        if (clean && !settingsDiffer) // nothing but what correct runs have
            std::erase_if(session.diagnosis.findings,
                          [](const Finding& f) { return f.certainty != Certainty::Benign; });
        return {};
    }
    const std::int64_t until = replayUntil(session.diagnosis, suspect.info.lastStep);
    std::vector<FaultSpec> candidates = replayCandidates(session.diagnosis, 100);
    std::erase_if(candidates, [&](const FaultSpec& fault) { return !runner->canPlay(fault.id); });
    candidates.resize(std::min(candidates.size(), std::size_t(left)));
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        Result<ReplayOutcome> outcome = runner->replay(candidates[i], session.suspect->reader, 0, until);
        if (!outcome)
            return outcome.error();
        const char* verdict = outcome->state == ReplayOutcome::Equal     ? "equal in every bit"
                              : outcome->state == ReplayOutcome::Differs ? "differs"
                                                                         : "could not be replayed";
        say(context.json, fmt::format("replay {} of {}, {}: {}", i + 1, candidates.size(),
                                      faultText(candidates[i]), verdict));
        session.replays.push_back(std::move(outcome).value());
    }
    applyReplays(session.diagnosis, session.replays, traitsOf(suspect.config));
    return {};
}

void writeReplay(JsonDocument& json, const ReplayOutcome& replay)
{
    const char* state = replay.state == ReplayOutcome::Equal     ? "equal"
                        : replay.state == ReplayOutcome::Differs ? "differs"
                                                                 : "failed";
    json.beginObject().key("fault").text(faultText(replay.fault)).key("verdict").text(state);
    json.key("points").number(replay.verdict.points).key("step");
    if (replay.verdict.step < 0)
        json.null();
    else
        json.number(replay.verdict.step);
    json.key("quantity").text(replay.verdict.quantity).key("failure").text(replay.failure).endObject();
}

void printJson(const Session& session)
{
    JsonDocument json;
    json.beginObject().key("a").text(session.reference->info.id).key("b").text(session.suspect->info.id);
    json.key("comparable").raw(session.diagnosis.comparable ? "true" : "false").key("first_step");
    if (session.diagnosis.firstStep < 0)
        json.null();
    else
        json.number(session.diagnosis.firstStep);
    json.key("link");
    if (session.diagnosis.firstStep < 0)
        json.null();
    else
        json.text(std::string(causalLinkName(session.diagnosis.link)));
    json.key("findings").beginArray();
    for (const Finding& finding : session.diagnosis.findings)
        writeFinding(json, finding);
    json.endArray().key("problems").beginArray();
    for (const std::string& problem : session.diagnosis.problems)
        json.text(problem);
    json.endArray().key("replays").beginArray();
    for (const ReplayOutcome& replay : session.replays)
        writeReplay(json, replay);
    json.endArray().endObject();
    json.print();
}

void printText(const Session& session)
{
    const Diagnosis& d = session.diagnosis;
    const std::string pair = fmt::format("{} and {}", session.reference->info.id, session.suspect->info.id);
    if (!d.comparable)
        fmt::print("{}: cannot compare\n", pair);
    else if (d.firstStep >= 0)
        fmt::print("{} part at step {}, {}\n", pair, d.firstStep, causalLinkName(d.link));
    else
        fmt::print("{} do not part in what both recorded\n", pair);
    for (const Finding& finding : d.findings)
        fmt::print("\n{}", findingText(finding));
    for (const std::string& problem : d.problems)
        fmt::print("\n{}", problem);
    if (!d.problems.empty())
        fmt::print("\n");
}

int diagnoseRuns(CliContext& context, const DiagnoseCommand& command)
{
    if (command.runA.empty() != command.runB.empty())
        return fail({ErrorKind::Usage, "One run cannot be diagnosed against nothing",
                     "only one run was named", "Name the reference and the run to be explained, or neither"});
    Result<ProjectStore> project = ProjectStore::open(command.folder);
    if (!project)
        return fail(project.error());
    Session session;
    if (Status opened = openPair(*project, command, session); !opened)
        return fail(opened.error());
    if (Status found = findTwin(*project, session); !found)
        return fail(found.error());
    if (Status judged = session.judge(); !judged)
        return fail(judged.error());
    if (command.prove && session.diagnosis.comparable)
        if (Status proven = prove(context, session); !proven) {
            session.stopped = proven.error().kind == ErrorKind::Cancelled;
            session.diagnosis.problems.push_back(proven.error().sentence());
        }
    std::vector<FindingRow> rows;
    for (const Finding& finding : session.diagnosis.findings)
        rows.push_back(findingRow(session.reference->info.id, session.suspect->info.id, finding));
    if (Status saved = project->saveFindings(session.reference->info.id, session.suspect->info.id, rows);
        !saved)
        session.diagnosis.problems.push_back("The findings were not kept: " + saved.error().sentence());
    if (context.json)
        printJson(session);
    else
        printText(session);
    if (session.stopped)
        return stoppedExitCode();
    if (!session.diagnosis.comparable)
        return 3;
    return anyAboveBenign(session.diagnosis) ? 1 : 0;
}

} // namespace

void addDiagnoseCommand(CLI::App& app, CliContext& context)
{
    auto options = std::make_shared<DiagnoseCommand>();
    CLI::App* command = context.command(app, "diagnose", "Say why two runs part, and prove it by replay",
                                        [&context, options] { return diagnoseRuns(context, *options); });
    command->add_option("folder", options->folder, "project folder")->required()->option_text("DIR");
    command->add_option("a", options->runA, "id or name of the reference (default: the newest single run)")
        ->option_text("A");
    command
        ->add_option("b", options->runB,
                     "id or name of the run to be explained (default: the newest DDP run)")
        ->option_text("B");
    command->add_flag("--prove", options->prove, "replay each suspected cause in a twin, five at most");
}

} // namespace lockstep
