#include "app/cli/wait_for_run.h"

#include "core/host/stop_signals.h"
#include "core/store/project_store.h"

#include <QEventLoop>
#include <QTimer>

#include <fmt/format.h>

namespace lockstep {

namespace {

constexpr int kLookMs = 200;

} // namespace

Status waitForRun(const std::string& projectFolder, const std::string& run, StopSignals& signals)
{
    Result<ProjectStore> project = ProjectStore::open(projectFolder);
    if (!project)
        return project.error();
    QEventLoop loop;
    bool stopped = false;
    QObject::connect(&signals, &StopSignals::received, &loop, [&] {
        stopped = true;
        loop.quit();
    });
    std::string id = run; // a name could mean another run once a newer one has it
    while (!stopped) {
        const Result<RunInfo> info = project->run(id);
        if (!info)
            return info.error();
        id = info->id;
        if (info->state == RunState::Finished)
            return {};
        if (info->state != RunState::Running)
            return Error{ErrorKind::RunFailed, fmt::format("Nothing was started after {}", id),
                         fmt::format("it did not finish, its state is {}", runStateName(info->state)),
                         "Mend the cause and start both again"};
        QTimer::singleShot(kLookMs, &loop, &QEventLoop::quit);
        loop.exec();
    }
    return Error{ErrorKind::Cancelled, fmt::format("Nothing was started after {}", id),
                 "the wait for it was stopped", "Start both again"};
}

} // namespace lockstep
