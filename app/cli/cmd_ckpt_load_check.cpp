// ckpt load-check: loads a file with torch itself, in a process of its own, with weights_only=True.
#include "app/cli/ckpt_commands.h"
#include "app/cli/python_load.h"
#include "core/ckpt/walk.h"

#include <fmt/format.h>

#include <QCoreApplication>

#include <memory>

namespace lockstep {

namespace {

struct LoadCheckCommand {
    std::string path;
    std::string python;
    int timeoutSeconds = 600;
};

int loadCheck(const LoadCheckCommand& command, CliContext& context)
{
    const QCoreApplication application(context.argc, context.argv);
    const Result<PythonLoad> load = loadWithPython(command.path, command.python, command.timeoutSeconds);
    if (!load)
        return fail(load.error());
    if (context.json)
        fmt::print("{}\n", load->json);
    else if (load->ok)
        fmt::print("torch {} loads it with weights_only=True: {} tensors, {} bytes.\n", load->torch,
                   load->tensors, load->bytes);
    else
        fmt::print("torch {} does not load it: {}\n", load->torch, printable(load->error));
    return load->ok ? 0 : 1;
}

} // namespace

void addCkptLoadCheck(CLI::App& ckpt, CliContext& context)
{
    auto options = std::make_shared<LoadCheckCommand>();
    CLI::App* command =
        context.command(ckpt, "load-check", "Load a file once with Python's torch, in a process of its own",
                        [&context, options] { return loadCheck(*options, context); });
    command->add_option("path", options->path, "checkpoint file")->required()->option_text("FILE");
    command
        ->add_option("--python", options->python,
                     "Python with torch (default: LOCKSTEP_PYTHON, the active environment, python3)")
        ->option_text("PROGRAM");
    command->add_option("--timeout", options->timeoutSeconds, "seconds to wait (default 600)")
        ->check(CLI::Range(1, 86400));
}

} // namespace lockstep
