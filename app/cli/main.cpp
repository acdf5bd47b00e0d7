// lockstep-cli: launches runs, is the only writer of records, and answers questions about them, without a
// screen.
#include "app/cli/cli_context.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

using namespace lockstep;

namespace {

// What the parser has to say, with the word it stumbled over where it does not name it itself.
Error usageError(const CLI::App& app, int argc, char** argv, const CLI::ParseError& error)
{
    std::string why = error.what();
    const auto isNamed = [&](const CLI::App* command) { return command->get_name() == argv[1]; };
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(isNamed).empty())
        why = fmt::format("there is no command {}", argv[1]);
    return {ErrorKind::Usage, "The command line cannot be understood", why,
            "See lockstep-cli --help, or lockstep-cli COMMAND --help"};
}

} // namespace

int main(int argc, char** argv)
{
    // A reader that went away and a file size limit are errors of a write, not reasons to die with a run in
    // hand.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);

    CLI::App app("Lockstep: trains on one process and on many, and shows where they part");
    app.name("lockstep-cli");
    app.set_version_flag("--version", "lockstep-cli " LOCKSTEP_VERSION);
    app.require_subcommand(1);
    CliContext context;
    context.argc = argc;
    context.argv = argv;
    app.add_flag("--json", context.json, "one JSON document on standard output");

    addInitCommand(app, context);
    addRunCommand(app, context);
    addProbeCommand(app, context);
    addRunsCommand(app, context);
    addStopCommand(app, context);
    addFaultsCommand(app, context);
    addImportCommand(app, context);
    addExportCommand(app, context);
    addGateCommand(app, context);
    addDrillCommand(app, context);
    addSwitchCommand(app, context);
    addReportCommand(app, context);
    addCompareCommand(app, context);
    addDiagnoseCommand(app, context);
    addLintCommand(app, context);
    addCkptCommand(app, context);

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0)
            return app.exit(error); // --help, --version
        return fail(usageError(app, argc, argv, error));
    }
    int code = 0;
    try {
        code = context.action();
    } catch (const std::system_error&) { // fmt::print could not write
        code = 3;
    }
    if (std::fflush(stdout) == 0 && !std::ferror(stdout))
        return code;
    if (errno != EPIPE) // "| head" has seen enough
        warn("The answer could not be written to standard output: it is full or closed. Ask again with "
             "another one");
    return code == 0 ? 3 : code;
}
