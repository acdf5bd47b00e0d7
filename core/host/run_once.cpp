#include "core/host/run_once.h"

#include "core/host/run_controller.h"
#include "core/host/stop_signals.h"

#include <QEventLoop>

#include <fmt/format.h>

#include <cstring>

namespace lockstep {

namespace {

// `run` is null where none had begun.
Error stopped(const RunInfo* run)
{
    const int signal = StopSignals::last();
    std::string why =
        signal > 0 ? fmt::format("SIG{} asked for it", sigabbrev_np(signal)) : "a rank was stopped";
    if (run)
        why += fmt::format(" in run {}, after step {}", run->id, run->lastStep);
    return {ErrorKind::Cancelled, "Stopped on request, nothing is judged", std::move(why), "Start it again"};
}

} // namespace

Result<RunInfo> runOnce(const std::string& projectFolder, const RunConfig& config,
                        const std::string& workerPath, StopSignals& signals)
{
    RunOptions options;
    options.projectFolder = projectFolder;
    options.config = config;
    options.workerPath = workerPath;
    return runOnce(options, signals);
}

Result<RunInfo> runOnce(const RunOptions& options, StopSignals& signals)
{
    if (StopSignals::last() > 0)
        return stopped(nullptr);
    RunController run(options);
    QEventLoop loop;
    QObject::connect(&run, &RunController::finished, &loop, &QEventLoop::quit);
    QObject::connect(&signals, &StopSignals::received, &run, [&run](int number) {
        run.requestStop(std::string("signal ") + std::to_string(number));
    });
    if (Status started = run.start(); !started)
        return started.error();
    loop.exec();
    // Whatever became of the run: the next one must not begin.
    if (StopSignals::last() > 0 || run.info().state == RunState::Stopped)
        return stopped(&run.info());
    return run.info();
}

} // namespace lockstep
