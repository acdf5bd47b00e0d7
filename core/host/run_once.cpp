#include "core/host/run_once.h"

#include "core/host/run_controller.h"
#include "core/host/stop_signals.h"

#include <QEventLoop>

namespace lockstep {

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
    RunController run(options);
    QEventLoop loop;
    QObject::connect(&run, &RunController::finished, &loop, &QEventLoop::quit);
    QObject::connect(&signals, &StopSignals::received, &run, [&run](int number) {
        run.requestStop(std::string("signal ") + std::to_string(number));
    });
    if (Status started = run.start(); !started)
        return started.error();
    loop.exec();
    return run.info();
}

} // namespace lockstep
