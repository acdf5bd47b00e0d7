// diagnose: why two runs part, on request a proof by replay, and which of several causes it is where two are the same bits.
#include "app/cli/cli_context.h"
#include "app/cli/diagnose_separate.h"
#include "app/cli/findings_document.h"
#include "app/cli/stopped.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

namespace lockstep {

namespace {

struct DiagnoseCommand {
    std::string folder, runA, runB;
    bool prove = false;
    bool separate = false;
};

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

void writeSeparation(JsonDocument& json, const Separation& separation)
{
    json.beginObject().key("a").text(separation.runA).key("b").text(separation.runB);
    for (const auto& [key, causes] :
         {std::pair("causes", &separation.causes), std::pair("remains", &separation.remains)}) {
        json.key(key).beginArray();
        for (const std::string& cause : *causes)
            json.text(cause);
        json.endArray();
    }
    json.key("setting").beginObject().key("key").text(separation.change.setting);
    json.key("value").number(separation.change.value).endObject().endObject();
}

// `separation`: the pair of the session was run to tell causes of another apart.
void printJson(const DiagnoseSession& session, const Separation* separation)
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
    json.endArray();
    if (separation) {
        json.key("separates");
        writeSeparation(json, *separation);
    }
    json.endObject();
    json.print();
}

void printText(const DiagnoseSession& session)
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

// Findings of the pair go to the project; what could not be kept is told beside them.
void keepFindings(ProjectStore& project, DiagnoseSession& session)
{
    std::vector<FindingRow> rows;
    for (const Finding& finding : session.diagnosis.findings)
        rows.push_back(findingRow(session.reference->info.id, session.suspect->info.id, finding));
    if (Status saved = project.saveFindings(session.reference->info.id, session.suspect->info.id, rows);
        !saved)
        session.diagnosis.problems.push_back("The findings were not kept: " + saved.error().sentence());
}

int exitCodeOf(const DiagnoseSession& session)
{
    if (!session.diagnosis.comparable)
        return 3;
    return session.anyAboveBenign() ? 1 : 0;
}

int separate(CliContext& context, ProjectStore& project, DiagnoseSession& before, bool proveIt)
{
    DiagnoseSession session;
    const Result<Separation> separation = separateCauses(context, project, before, proveIt, session);
    if (!separation)
        return failOrStopped(separation.error());
    if (separation->remains.empty())
        keepFindings(project,
                     session); // something else is at work in it; otherwise the first pair's finding says all
    if (context.json) {
        printJson(session, &*separation);
        return exitCodeOf(session);
    }
    printText(session);
    if (separation->remains.empty())
        fmt::print("\nNone of {} explains this pair.\n", fmt::join(separation->causes, ", "));
    else
        fmt::print("\n{} against {}: {} remains of {}.\n", separation->runB, separation->runA,
                   fmt::join(separation->remains, ", "), fmt::join(separation->causes, ", "));
    return exitCodeOf(session);
}

int diagnoseRuns(CliContext& context, const DiagnoseCommand& command)
{
    if (command.runA.empty() != command.runB.empty())
        return fail({ErrorKind::Usage, "One run cannot be diagnosed against nothing",
                     "only one run was named", "Name the reference and the run to be explained, or neither"});
    Result<ProjectStore> project = ProjectStore::open(command.folder);
    if (!project)
        return fail(project.error());
    DiagnoseSession session;
    if (Status opened = openPair(*project, command.runA, command.runB, session); !opened)
        return fail(opened.error());
    if (Status found = findTwin(*project, session); !found)
        return fail(found.error());
    if (command.separate)
        return separate(context, *project, session, command.prove);
    if (Status judged = session.judge(); !judged)
        return fail(judged.error());
    bool stopped = false;
    if (command.prove && session.diagnosis.comparable)
        if (Status proven = prove(context, session); !proven) {
            stopped = proven.error().kind == ErrorKind::Cancelled;
            session.diagnosis.problems.push_back(proven.error().sentence());
        }
    keepFindings(*project, session);
    if (context.json)
        printJson(session, nullptr);
    else
        printText(session);
    return stopped ? stoppedExitCode() : exitCodeOf(session);
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
    command->add_flag("--separate", options->separate,
                      "where several causes are the same bits: make the short pair of runs that tells them "
                      "apart, and diagnose that");
}

} // namespace lockstep
