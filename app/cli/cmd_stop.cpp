// stop: asks a run to finish its step, save and end.
#include "app/cli/cli_context.h"
#include "app/cli/run_document.h"
#include "core/host/run_control.h"
#include "core/store/project_store.h"

#include <fmt/format.h>

#include <memory>

namespace lockstep {

void addStopCommand(CLI::App& app, CliContext& context)
{
    struct Options {
        std::string folder;
        std::string run;
        int timeoutSeconds = 60;
    };
    auto options = std::make_shared<Options>();
    CLI::App* command =
        context.command(app, "stop", "Stop a run after its step, with a checkpoint", [&context, options] {
            Result<ProjectStore> project = ProjectStore::open(options->folder);
            if (!project)
                return fail(project.error());
            Result<RunInfo> run = project->run(options->run);
            if (!run)
                return fail(run.error());
            if (run->state != RunState::Running)
                return fail({ErrorKind::NotFound, fmt::format("The run {} cannot be stopped", run->id),
                             fmt::format("it is not running, its state is {}", runStateName(run->state)),
                             "Look at the runs with lockstep-cli runs"});
            if (Status stopped = stopRunOf(run->folder, options->timeoutSeconds); !stopped)
                return fail(stopped.error());
            run = project->run(run->id); // with its final state
            if (!run)
                return fail(run.error());
            if (context.json)
                printRunDocument(run.value());
            else
                fmt::print("{}  {}  step {}\n", run->id, runStateName(run->state), run->lastStep);
            return 0;
        });
    command->add_option("folder", options->folder, "project folder")->required()->option_text("DIR");
    command->add_option("run", options->run, "id or name of the run")->required()->option_text("RUN");
    command
        ->add_option("--timeout", options->timeoutSeconds,
                     "seconds to wait for the end, 0: do not wait (default 60)")
        ->option_text("S");
}

} // namespace lockstep
