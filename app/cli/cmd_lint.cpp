// lint: what one run shows by itself.
#include "app/cli/cli_context.h"
#include "app/cli/findings_document.h"
#include "app/cli/opened_run.h"
#include "core/align/lint.h"

#include <fmt/format.h>

#include <algorithm>

#include <memory>

namespace lockstep {

namespace {

struct LintCommand {
    std::string folder, run;
};

void printJson(const RunInfo& info, const Lint& lint)
{
    JsonDocument json;
    json.beginObject().key("run").text(info.id).key("findings").beginArray();
    for (const LintFinding& found : lint.findings)
        writeFinding(json, found.finding, found.check);
    json.endArray().key("checked").beginArray();
    for (const std::string& check : lint.checked)
        json.text(check);
    json.endArray().key("problems").beginArray();
    for (const std::string& problem : lint.problems)
        json.text(problem);
    json.endArray().endObject();
    json.print();
}

void printText(const RunInfo& info, const Lint& lint)
{
    fmt::print("{}: {} of {} checks found something\n", info.id, lint.findings.size(), lint.checked.size());
    for (const LintFinding& found : lint.findings)
        fmt::print("\n{}", findingText(found.finding));
    for (const std::string& problem : lint.problems)
        fmt::print("{}\n", problem);
}

int lintOne(const LintCommand& command, bool asJson)
{
    Result<ProjectStore> project = ProjectStore::open(command.folder);
    if (!project)
        return fail(project.error());
    std::string name = command.run;
    if (name.empty()) {
        const Result<std::vector<RunInfo>> runs = project->runs();
        if (!runs)
            return fail(runs.error());
        const auto own =
            std::find_if(runs->begin(), runs->end(), [](const RunInfo& r) { return !r.auxiliary(); });
        if (own == runs->end())
            return fail({ErrorKind::NotFound, "There is no run to check", "the project has none", "Run one"});
        name = own->id;
    }
    Result<OpenedRun> run = openRun(*project, name);
    if (!run)
        return fail(run.error());
    const Result<Lint> lint = lintRun({&run->reader, traitsOf(run->config)});
    if (!lint)
        return fail(lint.error());
    if (asJson)
        printJson(run->info, *lint);
    else
        printText(run->info, *lint);
    return lint->findings.empty() ? 0 : 1;
}

} // namespace

void addLintCommand(CLI::App& app, CliContext& context)
{
    auto options = std::make_shared<LintCommand>();
    CLI::App* command =
        context.command(app, "lint", "Look for states that no correct training has, in one run",
                        [&context, options] { return lintOne(*options, context.json); });
    command->add_option("folder", options->folder, "project folder")->required()->option_text("DIR");
    command->add_option("run", options->run, "id or name of a run (default: the newest)")->option_text("RUN");
}

} // namespace lockstep
