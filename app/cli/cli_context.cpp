#include "app/cli/cli_context.h"

#include <fmt/format.h>

#include <cstdio>

namespace lockstep {

CLI::App* CliContext::command(CLI::App& app, const std::string& name, const std::string& description,
                              std::function<int()> act)
{
    CLI::App* command = app.add_subcommand(name, description);
    command->fallthrough(); // --json may stand before or after the command
    command->callback([this, act = std::move(act)] { action = act; });
    return command;
}

int fail(const Error& error)
{
    warn(error.sentence());
    return error.exitCode();
}

void warn(const std::string& text)
{
    // Not fmt::print: it throws where nobody listens any more, and the exit code still has to say what happened.
    std::fputs(fmt::format("lockstep-cli: {}\n", text).c_str(), stderr);
}

} // namespace lockstep
