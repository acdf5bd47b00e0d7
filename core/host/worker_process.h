// One process of a run. It gets a session and process group of its own, so that Ctrl-C in a terminal reaches
// the host only and the host can end the process together with anything it started; and the kernel kills it
// when the host dies. Lives in the thread that starts it, which has to live as long as the process: the
// kernel's parent-death signal is tied to that thread.
#pragma once

#include <QProcess>

#include <cstdint>

namespace lockstep {

struct ProcessSpec {
    QString program;
    QStringList arguments;
    QProcessEnvironment environment;
    QString logFile;      // standard output and error go here
    int inheritedFd = -1; // stays open in the child under the same number; -1: none
};

struct ProcessEnd {
    bool started = true;
    bool signalled = false;
    int code = 0;    // exit code, or signal number
    QString problem; // why it could not be started
    std::int64_t monotonicNs = 0;
};

class WorkerProcess : public QObject
{
    Q_OBJECT
public:
    explicit WorkerProcess(ProcessSpec spec, QObject* parent = nullptr);
    // Kills the process group if it is still there.
    ~WorkerProcess() override;

    // Failure to start is reported through ended(), like every other end.
    void start();
    bool isRunning() const { return running_; }
    std::int64_t pid() const { return pid_; }

    void requestStop(); // SIGTERM to the process itself: finish the step, save
    void kill();        // SIGKILL to the whole group

Q_SIGNALS:
    void ended(const lockstep::ProcessEnd& end);

private:
    void onFinished(int code, QProcess::ExitStatus status);
    void onError(QProcess::ProcessError error);
    void report(ProcessEnd end);

    ProcessSpec spec_;
    QProcess process_;
    std::int64_t pid_ = 0;
    bool running_ = false;
};

// CLOCK_MONOTONIC, comparable between the processes of one machine.
std::int64_t monotonicNs();

} // namespace lockstep
