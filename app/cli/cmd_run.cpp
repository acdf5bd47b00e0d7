// run: trains once, records everything, ends with the verdict.
#include "app/cli/cli_context.h"
#include "app/cli/detach.h"
#include "app/cli/run_document.h"
#include "app/cli/run_options.h"
#include "core/host/launch_environment.h"
#include "core/host/run_controller.h"
#include "core/host/stop_signals.h"
#include "core/host/worker_answers.h"
#include "core/store/project_store.h"

#include <QCoreApplication>
#include <QDateTime>

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <thread>
#include <unistd.h>
#include <utility>

namespace lockstep {

namespace {

struct RunCommand {
    std::string folder;
    RunConfigOptions config;
    std::uint16_t masterPort = 0;
    int stopGraceSeconds = 30;
    bool detach = false;
    std::string onLoss = "stop";
    double silenceSeconds = 0;
};

constexpr double kRankMiB = 64; // of its own, what a rank takes before it has made a model

// A machine that swaps answers to nothing any more, not even to a stop.
Status enoughMemory(const RunConfig& config)
{
    const int ranks = config.mode == "ddp" || config.mode == "fsdp" ? config.world : 1;
    double available = 0; // MiB; 0: unknown
    std::ifstream file("/proc/meminfo");
    for (std::string key, rest; file >> key && std::getline(file, rest);)
        if (key == "MemAvailable:")
            available = std::strtod(rest.c_str(), nullptr) / 1024;
    if (ranks == 1 || available <= 0 || ranks * kRankMiB <= available)
        return {};
    return Error{ErrorKind::Environment, fmt::format("{} ranks do not fit into the memory", ranks),
                 fmt::format("each takes {:.0f} MiB before it has a model, {:.0f} MiB are available",
                             kRankMiB, available),
                 fmt::format("Choose a --world of at most {:.0f}", std::floor(available / kRankMiB))};
}

constexpr double kDaySeconds = 86400; // the longest wait: milliseconds of it fit an int

Result<RunOptions> runOptions(const RunCommand& command)
{
    for (const auto& [option, seconds] :
         {std::pair{"--stop-grace", double(command.stopGraceSeconds)}, {"--silence", command.silenceSeconds}})
        if (!(seconds >= 0 && seconds <= kDaySeconds)) // true for NaN
            return Error{ErrorKind::Usage, fmt::format("{} {} is not possible", option, seconds),
                         fmt::format("allowed: 0 to {} seconds", kDaySeconds),
                         fmt::format("Choose another value for {}", option)};
    RunOptions options;
    {
        // Closed again at once: the controller opens its own connection.
        Result<ProjectStore> project = ProjectStore::open(command.folder);
        if (!project)
            return project.error();
        options.projectFolder = project->info().folder;
        Result<RunConfig> config = command.config.config(project->info().workload);
        if (!config)
            return config.error();
        options.config = std::move(config).value();
        if (Status fits = enoughMemory(options.config); !fits)
            return fits.error();
        // What the ranks alone can judge is asked before there is a run that failed. Only where something is named that
        // may not exist: asking costs the start of a program.
        const RunConfig& wanted = options.config;
        if (wanted.workload != project->info().workload || !wanted.workloadOptions.empty() ||
            !wanted.faults.empty())
            if (Status possible = checkWithWorker(wanted); !possible)
                return possible.error();
    }
    Result<std::string> worker = findWorker();
    if (!worker)
        return worker.error();
    options.workerPath = std::move(worker).value();
    options.masterPort = command.masterPort;
    options.stopGraceMs = command.stopGraceSeconds * 1000;
    options.silenceMs = int(command.silenceSeconds * 1000);
    options.restart.armed = command.onLoss != "stop";
    options.restart.toOneProcess = command.onLoss == "one";
    return options;
}

void warnIfCrowded(const RunConfig& config)
{
    const unsigned cores = std::thread::hardware_concurrency();
    const int ranks = config.mode == "ddp" || config.mode == "fsdp" ? config.world : 1;
    if (cores > 0 && ranks * config.threads > int(cores))
        warn(fmt::format(
            "{} ranks of {} thread{} share {} cores. The run is slower, its results are the same. Use a "
            "smaller --world to change that.",
            ranks, config.threads, config.threads == 1 ? "" : "s", cores));
}

// One line that is written over while the run goes on; nothing unless a person can see it.
class LiveLine
{
public:
    explicit LiveLine(bool wanted) : on_(wanted && isatty(STDERR_FILENO) != 0) {}
    ~LiveLine() { clear(); }
    void show(const RunController& run, const RunConfig& config)
    {
        if (!on_)
            return;
        const std::string total = config.steps > 0 ? fmt::format(" of {}", config.steps) : std::string();
        fmt::print(stderr, "\r\x1b[K{}  step {}{}  loss {:.6g}  {}", run.info().id, run.committedStep(),
                   total, run.committedLoss(), durationText(run.info(), QDateTime::currentMSecsSinceEpoch()));
        std::fflush(stderr);
        shown_ = true;
    }
    void clear()
    {
        if (shown_)
            fmt::print(stderr, "\r\x1b[K");
        shown_ = false;
    }

private:
    const bool on_;
    bool shown_ = false;
};

int exitCodeOf(const RunController& run, int stopSignal)
{
    switch (run.info().state) {
    case RunState::Finished:
        return 0;
    case RunState::Stopped:
        return 128 + (stopSignal > 0 ? stopSignal : SIGTERM);
    default:
        return run.failureKind() == ErrorKind::RunFailed ? 4 : 3;
    }
}

void report(const RunInfo& run, bool json)
{
    if (json) {
        printRunDocument(run);
        return;
    }
    printRunLine(run);
}

int runAndWait(CliContext& context, const RunCommand& command, Detached& detached)
{
    QCoreApplication app(context.argc, context.argv);
    Result<RunOptions> options = runOptions(command);
    if (!options)
        return fail(options.error());
    warnIfCrowded(options->config);

    StopSignals signals; // before the ranks start: a stop request from now on is never lost
    RunController run(options.value());
    LiveLine line(!context.json && !detached.isDetached());
    int stopSignal = 0;
    QObject::connect(&signals, &StopSignals::received, &run, [&](int signal) {
        stopSignal = signal;
        run.requestStop(fmt::format("SIG{}", sigabbrev_np(signal)));
    });
    QObject::connect(&run, &RunController::progress, &run, [&] { line.show(run, options->config); });
    QObject::connect(&run, &RunController::notice, &run,
                     [&](const QString& text) { warn(text.toStdString()); });
    QObject::connect(&run, &RunController::finished, &app, &QCoreApplication::quit, Qt::QueuedConnection);
    if (Status started = run.start(); !started)
        return fail(started.error());

    if (detached.isDetached())
        detached.answer(beginningText(run.info(), context.json), run.info().folder + "/host.log");
    else if (!context.json)
        fmt::print("{}", beginningText(run.info(), false));
    std::fflush(stdout);

    app.exec();
    line.clear();
    report(run.info(), context.json);
    return exitCodeOf(run, stopSignal);
}

} // namespace

void addRunCommand(CLI::App& app, CliContext& context)
{
    auto options = std::make_shared<RunCommand>();
    CLI::App* command =
        context.command(app, "run", "Train once, in one process or many, and record it", [&context, options] {
            Detached detached;
            if (options->detach)
                if (const int code = detached.start(); code >= 0)
                    return code;
            return runAndWait(context, *options, detached);
        });
    command->add_option("folder", options->folder, "project folder")->required()->option_text("DIR");
    options->config.addTo(*command);
    command
        ->add_option("--master-port", options->masterPort, "port where the ranks meet (default: a free one)")
        ->option_text("PORT");
    command
        ->add_option("--stop-grace", options->stopGraceSeconds,
                     "seconds a rank has to finish its step and save after a stop request (default 30)")
        ->option_text("S");
    command
        ->add_option(
            "--on-loss", options->onLoss,
            "when ranks are lost: stop (default), go on with the ranks that are left, or in one process")
        ->check(CLI::IsMember({"stop", "survivors", "one"}))
        ->option_text("stop|survivors|one");
    command
        ->add_option(
            "--silence", options->silenceSeconds,
            "end a rank that has sent no sign of life for so many seconds (default: never; drill DIR advise "
            "recommends one)")
        ->option_text("S");
    command->add_flag("--detach", options->detach, "return once the run has started; it goes on by itself");
}

} // namespace lockstep
