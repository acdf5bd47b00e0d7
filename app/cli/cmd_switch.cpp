// switch: lets a run that is running go on with another number of ranks.
#include "app/cli/cli_context.h"
#include "app/cli/json_output.h"
#include "core/host/run_control.h"
#include "core/host/switch_check.h"
#include "core/store/project_store.h"

#include <fmt/format.h>

#include <memory>

namespace lockstep {

namespace {

struct SwitchCommand {
    std::string folder;
    std::string run;
    int world = 1;
};

int switchCommand(CliContext& context, const SwitchCommand& command)
{
    Result<ProjectStore> project = ProjectStore::open(command.folder);
    if (!project)
        return fail(project.error());
    const Result<RunInfo> run = project->run(command.run);
    if (!run)
        return fail(run.error());
    const Result<RunConfig> begun = runConfigFromJson(run->configJson);
    if (!begun)
        return fail(begun.error());
    if (run->state == RunState::Running) // else there is nobody to ask, which is said below
        if (const Status possible = checkSwitch(*begun, command.world); !possible)
            return fail(possible.error());
    if (const Status asked = switchRunOf(run->folder, command.world); !asked)
        return fail(asked.error());
    if (context.json) {
        JsonDocument json;
        json.beginObject().key("run").text(run->id).key("world").number(command.world).endObject();
        json.print();
    } else {
        fmt::print("{} was asked to go on with {} rank{}. It saves first; its segments show when it did.\n",
                   run->id, command.world, command.world == 1 ? "" : "s");
    }
    return 0;
}

} // namespace

void addSwitchCommand(CLI::App& app, CliContext& context)
{
    auto options = std::make_shared<SwitchCommand>();
    CLI::App* command = context.command(app, "switch", "Let a running run go on with another number of ranks",
                                        [&context, options] { return switchCommand(context, *options); });
    command->add_option("folder", options->folder, "project folder")->required()->option_text("DIR");
    command->add_option("run", options->run, "which run")->required()->option_text("RUN");
    command->add_option("--world", options->world, "ranks from now on; has to divide those it was begun with")
        ->required()
        ->check(CLI::Range(1, 1024))
        ->option_text("N");
}

} // namespace lockstep
