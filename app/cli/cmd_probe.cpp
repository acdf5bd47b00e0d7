// probe: a user's own script as a run of the project.
#include "app/cli/cli_context.h"
#include "app/cli/detach.h"
#include "app/cli/run_document.h"
#include "app/cli/stopped.h"
#include "app/cli/wait_for_run.h"
#include "core/config/script_words.h"
#include "core/host/command_run.h"
#include "core/host/stop_signals.h"

#include <QCoreApplication>

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <memory>

namespace lockstep {

namespace {

struct ProbeCommand {
    std::string folder;
    std::vector<std::string> words;
    std::string name;
    ProbeOptions probe;
    int world = 0; // 0: as the command says
    bool single = false;
    bool ddp = false;
    int stopGraceSeconds = 30;
    std::string after; // a run that has to finish first
    bool detach = false;
};

Result<CommandRunOptions> runOptions(const ProbeCommand& command)
{
    CommandRunOptions options;
    options.projectFolder = command.folder;
    for (const std::string& word : command.words)
        options.command << QString::fromStdString(word);
    const int ranks = command.single ? 1 : command.world > 0 ? command.world : ranksOfCommand(command.words);
    if (ranks < 1 || ranks > 1024)
        return Error{ErrorKind::Usage, "The command does not say how many ranks it starts",
                     "--nproc-per-node or --nnodes is no number", "Say it with --world N, 1 to 1024"};
    if (!command.probe.metric.empty() && command.probe.metric.find('(') == std::string::npos)
        return Error{ErrorKind::Usage, "--metric " + command.probe.metric + " finds no number",
                     "the pattern has no parentheses",
                     "Put them around the number: --metric 'loss=([0-9.]+)'"};
    options.config.name = command.name.empty() ? scriptName(command.words) : command.name;
    options.config.workload = scriptName(command.words);
    options.config.mode = command.ddp || ranks > 1 ? "ddp" : "single";
    options.config.world = ranks;
    options.config.order = "python";
    options.config.threads = command.probe.threads;
    options.config.record = command.probe.record;
    options.probe = command.probe;
    options.stopGraceMs = command.stopGraceSeconds * 1000;
    return options;
}

int exitCodeOf(const CommandRun& run, int stopSignal)
{
    if (run.info().state == RunState::Finished)
        return 0;
    if (run.info().state == RunState::Stopped)
        return 128 + (stopSignal > 0 ? stopSignal : SIGTERM);
    return run.failureKind() == ErrorKind::RunFailed ? 4 : 3;
}

int probe(CliContext& context, const ProbeCommand& command, Detached& detached)
{
    QCoreApplication app(context.argc, context.argv);
    Result<CommandRunOptions> options = runOptions(command);
    if (!options)
        return fail(options.error());
    StopSignals signals; // before the command starts: a stop request from now on is never lost
    if (!command.after.empty())
        if (Status over = waitForRun(command.folder, command.after, signals); !over)
            return failOrStopped(over.error());
    CommandRun run(std::move(options).value());
    int stopSignal = 0;
    QObject::connect(&signals, &StopSignals::received, &run, [&](int signal) {
        stopSignal = signal;
        run.requestStop(fmt::format("SIG{}", sigabbrev_np(signal)));
    });
    QObject::connect(&run, &CommandRun::notice, &run, [](const QString& text) { warn(text.toStdString()); });
    QObject::connect(&run, &CommandRun::finished, &app, &QCoreApplication::quit, Qt::QueuedConnection);
    if (Status started = run.start(); !started)
        return fail(started.error());
    if (detached.isDetached())
        detached.answer(beginningText(run.info(), context.json), run.info().folder + "/host.log");
    else if (!context.json)
        fmt::print("{}  started; its output goes to {}/rank0.log\n", run.info().id, run.info().folder);
    std::fflush(stdout);
    app.exec();
    if (context.json)
        printRunDocument(run.info());
    else
        printRunLine(run.info());
    return exitCodeOf(run, stopSignal);
}

} // namespace

void addProbeCommand(CLI::App& app, CliContext& context)
{
    auto options = std::make_shared<ProbeCommand>();
    CLI::App* command =
        context.command(app, "probe", "Run your own Python script and record it", [&context, options] {
            Detached detached;
            if (options->detach)
                if (const int code = detached.start(); code >= 0)
                    return code;
            return probe(context, *options, detached);
        });
    command->add_option("folder", options->folder, "project folder")->required()->option_text("DIR");
    command
        ->add_option("command", options->words, "after --: python train.py ..., or torchrun ... train.py ...")
        ->required()
        ->option_text("-- COMMAND...");
    command->add_option("--name", options->name, "name of the run (default: the script's)")
        ->option_text("NAME");
    CLI::Option* single =
        command->add_flag("--single", options->single, "one process (default without torchrun)");
    command->add_flag("--ddp", options->ddp, "several ranks, also where the command starts only one")
        ->excludes(single);
    command->add_option("--world", options->world, "ranks the command starts (default: what it says itself)")
        ->check(CLI::Range(1, 1024))
        ->option_text("N");
    command
        ->add_option("--threads", options->probe.threads,
                     "OMP_NUM_THREADS of the script (default 1; part of the bits)")
        ->check(CLI::Range(1, 1024))
        ->option_text("N");
    command->add_option("--record", options->probe.record, "what is recorded (default step)")
        ->check(CLI::IsMember({"off", "step", "tensor"}))
        ->option_text("off|step|tensor");
    command
        ->add_option("--metric", options->probe.metric,
                     "pattern of the loss in what the script prints, the number in parentheses")
        ->option_text("REGEX");
    command
        ->add_option("--stop-grace", options->stopGraceSeconds,
                     "seconds the script has to end after a stop request (default 30)")
        ->option_text("S");
    command->add_option("--after", options->after, "wait until this run has finished, and start only then")
        ->option_text("RUN");
    command->add_flag("--detach", options->detach, "return once the run has started; it goes on by itself");
}

} // namespace lockstep
