// Runs lockstep-cli as a user would, and finds what its runs leave behind.
#pragma once

#include "core/config/json.h"

#include <QByteArray>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>

#include <memory>
#include <string>

namespace lockstep::e2e {

struct CliResult {
    int exitCode = -1; // 128 + n after signal n
    QByteArray out;
    QByteArray error;

    // The one document on standard output. Aborts the test program if it is none: every test of it would be void.
    rapidjson::Document json() const;
};

class Cli
{
public:
    // Uses the worker at `worker`; a marker in the environment of everything it starts tells its processes from others.
    explicit Cli(const QString& worker);

    CliResult run(const QStringList& arguments) const;
    // The same under "sh -c 'limits; exec lockstep-cli ...'", for example "ulimit -f 100".
    CliResult runLimited(const QString& limits, const QStringList& arguments) const;
    std::unique_ptr<QProcess> start(const QStringList& arguments) const;
    static CliResult wait(QProcess& process);

    // Pids that carry the marker and, if given, the variable ("RANK=1").
    QList<qint64> processes(const QByteArray& variable = {}) const;
    // True once no process with the marker is left; waits for it, as the kernel takes a moment to bury one.
    bool nothingLeft() const;

    // Value of LOCKSTEP_TEST_MARKER, for processes that a test starts by itself.
    QByteArray marker() const { return marker_.mid(marker_.indexOf('=') + 1); }

    void setEnvironment(const QString& name, const QString& value) { environment_.insert(name, value); }

private:
    QProcessEnvironment environment_;
    QByteArray marker_;
};

// What the tests of commands start from: an empty project in a folder of its own, and the stand-in for the worker.
class ProjectTest : public QObject
{
protected:
    bool makeProject(const QString& worker); // false: init failed

    std::unique_ptr<QTemporaryDir> folder_;
    std::unique_ptr<Cli> cli_;
    QString project_;
};

// False if it does not reach a process. A process that has ended has the pid 0, which kill() takes for the whole group of
// the caller, the test runner included.
bool sendSignal(qint64 pid, int signal);

QString cliProgram();
QString realWorker(); // may not exist: the engine needs LibTorch
bool hasRealWorker();
inline const char* const kNoWorker = "build/bin/lockstep-worker is missing. Build it with ./dev build, which "
                                     "needs torch in .venv (./dev setup).";

} // namespace lockstep::e2e
