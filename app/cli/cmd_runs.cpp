// runs: what the project has run.
#include "app/cli/cli_context.h"
#include "app/cli/run_document.h"
#include "app/cli/table.h"
#include "core/config/run_config.h"
#include "core/config/script_words.h"
#include "core/store/project_store.h"

#include <QDateTime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <memory>

namespace lockstep {

namespace {

std::string startedText(std::int64_t unixMs)
{
    return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::time_t(unixMs / 1000)));
}

void printTable(const std::vector<RunInfo>& runs)
{
    const std::int64_t now = QDateTime::currentMSecsSinceEpoch();
    Table table({{"run"},
                 {"name"},
                 {"state"},
                 {"workload"},
                 {"steps", Align::Right},
                 {"loss", Align::Right},
                 {"time", Align::Right},
                 {"started"}});
    for (const RunInfo& run : runs) {
        const Result<RunConfig> config = runConfigFromJson(run.configJson);
        table.row({run.id, run.name, runStateName(run.state), config ? config->workload : "?",
                   run.lastStep < 0 ? "-" : std::to_string(run.lastStep),
                   run.lastStep < 0 ? "-" : fmt::format("{:.6g}", run.lastLoss),
                   run.endedUnixMs == 0 && run.state != RunState::Running ? "-" : durationText(run, now),
                   startedText(run.startedUnixMs)});
    }
    fmt::print("{}", table.text());
}

// Without `all` the runs of gates and drills are only counted.
void printForPeople(std::vector<RunInfo> runs, const std::string& folder, bool all)
{
    if (runs.empty()) {
        fmt::print("No runs yet. Start one with: lockstep-cli run {}\n", commandLineOf({folder}));
        return;
    }
    std::size_t hidden = 0;
    if (!all)
        hidden = std::erase_if(runs, [](const RunInfo& run) { return run.auxiliary(); });
    if (!runs.empty())
        printTable(runs);
    if (hidden > 0)
        fmt::print("{} run{} of gates and drills not shown; --all shows {}\n", hidden, hidden == 1 ? "" : "s",
                   hidden == 1 ? "it" : "them");
}

} // namespace

void addRunsCommand(CLI::App& app, CliContext& context)
{
    auto folder = std::make_shared<std::string>();
    auto all = std::make_shared<bool>(false);
    CLI::App* command =
        context.command(app, "runs", "List the runs of a project, newest first", [&context, folder, all] {
            Result<ProjectStore> project = ProjectStore::open(*folder);
            if (!project)
                return fail(project.error());
            const Result<std::vector<RunInfo>> runs = project->runs();
            if (!runs)
                return fail(runs.error());
            if (context.json) {
                JsonDocument json;
                json.beginArray();
                for (const RunInfo& run : runs.value()) {
                    json.beginObject();
                    writeRunMembers(json, run, true);
                    json.endObject();
                }
                json.endArray();
                json.print();
            } else {
                printForPeople(runs.value(), *folder, *all);
            }
            return 0;
        });
    command->add_option("folder", *folder, "project folder")->required()->option_text("DIR");
    command->add_flag("--all", *all, "also the runs of gates, drills and proofs (--json lists them always)");
}

} // namespace lockstep
