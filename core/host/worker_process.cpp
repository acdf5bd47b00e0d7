#include "core/host/worker_process.h"

#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace lockstep {

namespace {

// Runs in the child between fork and exec: async-signal-safe calls only.
void prepareChild(pid_t host, int inheritedFd)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != host)
        _exit(143);                // the host died before the line above took effect
    std::signal(SIGPIPE, SIG_DFL); // an ignored signal would stay ignored after exec
    for (int signal : {SIGTERM, SIGINT, SIGHUP})
        std::signal(signal, SIG_DFL); // the host's handlers must not run in the child
    if (inheritedFd >= 0)
        fcntl(inheritedFd, F_SETFD, 0);
}

} // namespace

std::int64_t monotonicNs()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

WorkerProcess::WorkerProcess(ProcessSpec spec, QObject* parent) : QObject(parent), spec_(std::move(spec))
{
    process_.setProgram(spec_.program);
    process_.setArguments(spec_.arguments);
    process_.setProcessEnvironment(spec_.environment);
    process_.setStandardInputFile(QProcess::nullDevice());
    process_.setProcessChannelMode(QProcess::MergedChannels);
    process_.setStandardOutputFile(spec_.logFile, QIODevice::Append);
    process_.setChildProcessModifier([host = getpid(), fd = spec_.inheritedFd] { prepareChild(host, fd); });
    connect(&process_, &QProcess::finished, this, &WorkerProcess::onFinished);
    connect(&process_, &QProcess::errorOccurred, this, &WorkerProcess::onError);
}

WorkerProcess::~WorkerProcess()
{
    process_.disconnect(this);
    kill();
    process_.waitForFinished();
}

void WorkerProcess::start()
{
    running_ = true;
    process_.start(QIODevice::ReadOnly);
    pid_ = process_.processId(); // 0 if the program could not be started
}

void WorkerProcess::requestStop()
{
    if (running_ && pid_ > 0)
        ::kill(pid_t(pid_), SIGTERM);
}

void WorkerProcess::kill()
{
    if (!running_ || pid_ <= 0)
        return;
    // The group exists from setsid() on; before that the process is a lone fork of the host.
    if (::kill(-pid_t(pid_), SIGKILL) != 0)
        ::kill(pid_t(pid_), SIGKILL);
}

void WorkerProcess::onFinished(int code, QProcess::ExitStatus status)
{
    // What the process may have started and left behind goes with it. The group id cannot be reused while a
    // member lives; without members this fails, as it should.
    if (pid_ > 0)
        ::kill(-pid_t(pid_), SIGKILL);
    ProcessEnd end;
    end.signalled = status == QProcess::CrashExit; // then QProcess gives the signal number as the code
    end.code = code;
    report(end);
}

void WorkerProcess::onError(QProcess::ProcessError error)
{
    if (error != QProcess::FailedToStart)
        return; // crashes come through finished() as well
    ProcessEnd end;
    end.started = false;
    end.problem = process_.errorString();
    report(end);
}

void WorkerProcess::report(ProcessEnd end)
{
    if (!running_)
        return;
    running_ = false;
    end.monotonicNs = monotonicNs();
    Q_EMIT ended(end);
}

} // namespace lockstep
