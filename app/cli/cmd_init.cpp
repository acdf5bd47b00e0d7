// init: makes a project folder.
#include "app/cli/cli_context.h"
#include "app/cli/json_output.h"
#include "core/config/script_words.h"
#include "core/host/worker_answers.h"
#include "core/store/project_store.h"

#include <QCoreApplication>

#include <fmt/format.h>

#include <memory>

namespace lockstep {

void addInitCommand(CLI::App& app, CliContext& context)
{
    struct Options {
        std::string folder;
        std::string workload = "toy-mlp";
        const CLI::Option* workloadGiven = nullptr;
    };
    auto options = std::make_shared<Options>();
    CLI::App* command = context.command(app, "init", "Make a project folder", [&context, options] {
        if (options->workloadGiven->count() > 0) {
            const QCoreApplication application(context.argc, context.argv);
            if (Status known = checkWorkloadName(options->workload); !known)
                return fail(known.error());
        }
        Result<ProjectStore> project = ProjectStore::create(options->folder, options->workload);
        if (!project)
            return fail(project.error());
        const ProjectInfo& info = project->info();
        if (context.json) {
            JsonDocument json;
            json.beginObject().key("project").text(info.folder).key("schema").number(info.schema);
            json.key("workload").text(info.workload).endObject();
            json.print();
        } else {
            const std::string folder = commandLineOf({options->folder});
            fmt::print(
                "Project {0} is ready. Record your own script: lockstep-cli probe {1} -- python train.py\n"
                "or train {2}: lockstep-cli run {1}\n",
                info.folder, folder, info.workload);
        }
        return 0;
    });
    command->add_option("folder", options->folder, "folder to make")->required()->option_text("DIR");
    options->workloadGiven =
        command->add_option("--workload", options->workload, "what new runs train unless they say otherwise")
            ->option_text("NAME");
}

} // namespace lockstep
