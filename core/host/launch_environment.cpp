#include "core/host/launch_environment.h"

#include "core/host/rank_files.h"

#include <QFileInfo>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace lockstep {

namespace {

void setIfAbsent(QProcessEnvironment& environment, const QString& name, const QString& value)
{
    if (!environment.contains(name))
        environment.insert(name, value);
}

} // namespace

QProcessEnvironment rankEnvironment(const LaunchFacts& facts, int rank)
{
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    const auto set = [&](const char* name, const std::string& value) {
        environment.insert(QString::fromLatin1(name), QString::fromStdString(value));
    };
    const auto setNumber = [&](const char* name, int value) { set(name, std::to_string(value)); };

    setNumber("RANK", rank);
    setNumber("LOCAL_RANK", rank);
    setNumber("WORLD_SIZE", facts.world);
    setNumber("LOCAL_WORLD_SIZE", facts.world);
    setNumber("GROUP_RANK", 0);
    setNumber("GROUP_WORLD_SIZE", 1);
    setNumber("ROLE_RANK", rank);
    setNumber("ROLE_WORLD_SIZE", facts.world);
    set("ROLE_NAME", "default");
    set("MASTER_ADDR", "127.0.0.1");
    setNumber("MASTER_PORT", facts.masterPort);
    setNumber("TORCHELASTIC_RESTART_COUNT", 0);
    setNumber("TORCHELASTIC_MAX_RESTARTS", 0);
    set("TORCHELASTIC_RUN_ID", facts.runId);
    set("TORCHELASTIC_USE_AGENT_STORE", "False");
    set("TORCHELASTIC_ERROR_FILE", rankErrorFile(facts.runFolder, rank));

    set("LOCKSTEP_CONNECT", facts.connect);
    set("LOCKSTEP_TOKEN", facts.token);
    set("LOCKSTEP_RUN_DIR", facts.runFolder);
    environment.remove(QStringLiteral("LOCKSTEP_STORE_FD"));
    if (rank == 0 && facts.storeFd >= 0)
        setNumber("LOCKSTEP_STORE_FD", facts.storeFd);

    // The thread count is part of the bits of a run, so the configuration decides it.
    setNumber("OMP_NUM_THREADS", facts.threads);
    // All ranks are on this machine: no name lookup, no firewall.
    setIfAbsent(environment, QStringLiteral("GLOO_SOCKET_IFNAME"), QStringLiteral("lo"));
    return environment;
}

// Files appear under their final name only when they are complete, so the newest by name is the one to go on from.
std::string newestCheckpoint(const std::string& runFolder)
{
    std::string newest;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(runFolder + "/checkpoints", error)) {
        const std::string name = entry.path().filename();
        if (name.starts_with("step_") && name.ends_with(".pt"))
            newest = std::max(newest, entry.path().string());
    }
    return newest;
}

QString programFolder()
{
    return QFileInfo(QStringLiteral("/proc/self/exe")).symLinkTarget().section(QLatin1Char('/'), 0, -2);
}

Result<std::string> findWorker()
{
    const QString folder = programFolder();
    const QString overridden = qEnvironmentVariable("LOCKSTEP_WORKER");
    const QStringList candidates =
        overridden.isEmpty() ? QStringList{folder + QStringLiteral("/lockstep-worker"),
                                           folder + QStringLiteral("/../libexec/lockstep/lockstep-worker")}
                             : QStringList{overridden};
    for (const QString& path : candidates)
        if (const QFileInfo file(path); file.isFile() && file.isExecutable())
            return file.canonicalFilePath().toStdString();
    return Error{ErrorKind::Environment, "No run can be started: the program lockstep-worker is missing",
                 fmt::format("it is not at {}", candidates.join(QStringLiteral(" nor at ")).toStdString()),
                 "Build it with ./dev build, which needs LibTorch, or set LOCKSTEP_WORKER to its path"};
}

} // namespace lockstep
