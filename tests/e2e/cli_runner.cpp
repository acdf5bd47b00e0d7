#include "tests/e2e/cli_runner.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTest>
#include <QUuid>

#include <csignal>

namespace lockstep::e2e {

rapidjson::Document CliResult::json() const
{
    Result<rapidjson::Document> document = parseJson(out.toStdString(), "the answer of lockstep-cli");
    if (!document)
        qFatal("%s\nstdout: %s\nstderr: %s", document.error().sentence().c_str(), out.constData(),
               error.constData());
    return std::move(document).value();
}

Cli::Cli(const QString& worker) : environment_(QProcessEnvironment::systemEnvironment())
{
    const QString id = QUuid::createUuid().toString(QUuid::Id128);
    environment_.insert(QStringLiteral("LOCKSTEP_TEST_MARKER"), id);
    environment_.insert(QStringLiteral("LOCKSTEP_WORKER"), worker);
    marker_ = "LOCKSTEP_TEST_MARKER=" + id.toLatin1();
}

std::unique_ptr<QProcess> Cli::start(const QStringList& arguments) const
{
    auto process = std::make_unique<QProcess>();
    process->setProcessEnvironment(environment_);
    process->start(cliProgram(), arguments);
    if (!process->waitForStarted())
        qFatal("%s cannot be started", qPrintable(cliProgram()));
    return process;
}

CliResult Cli::wait(QProcess& process)
{
    if (process.state() != QProcess::NotRunning && !process.waitForFinished(120000))
        qFatal("lockstep-cli does not end");
    CliResult result;
    result.exitCode =
        process.exitStatus() == QProcess::CrashExit ? 128 + process.exitCode() : process.exitCode();
    result.out = process.readAllStandardOutput();
    result.error = process.readAllStandardError();
    return result;
}

CliResult Cli::run(const QStringList& arguments) const
{
    const auto process = start(arguments);
    return wait(*process);
}

CliResult Cli::runLimited(const QString& limits, const QStringList& arguments) const
{
    QProcess process;
    process.setProcessEnvironment(environment_);
    process.start(
        QStringLiteral("/bin/sh"),
        QStringList{QStringLiteral("-c"), limits + QStringLiteral("; exec \"$0\" \"$@\""), cliProgram()} +
            arguments);
    return wait(process);
}

QList<qint64> Cli::processes(const QByteArray& variable) const
{
    QList<qint64> found;
    for (const QString& pid :
         QDir(QStringLiteral("/proc")).entryList({QStringLiteral("[0-9]*")}, QDir::Dirs)) {
        QFile environment(QStringLiteral("/proc/%1/environ").arg(pid));
        if (!environment.open(QIODevice::ReadOnly))
            continue;
        const QList<QByteArray> variables = environment.readAll().split('\0');
        if (variables.contains(marker_) && (variable.isEmpty() || variables.contains(variable)))
            found << pid.toLongLong();
    }
    return found;
}

bool Cli::nothingLeft() const
{
    return QTest::qWaitFor([this] { return processes().isEmpty(); }, 20000);
}

bool ProjectTest::makeProject(const QString& worker)
{
    folder_ = std::make_unique<QTemporaryDir>();
    cli_ = std::make_unique<Cli>(worker);
    project_ = folder_->filePath(QStringLiteral("p"));
    return cli_->run({"init", project_}).exitCode == 0;
}

bool sendSignal(qint64 pid, int signal)
{
    return pid > 0 && ::kill(pid_t(pid), signal) == 0;
}

QString cliProgram()
{
    return QStringLiteral(LOCKSTEP_BIN_DIR "/lockstep-cli");
}

QString realWorker()
{
    return QStringLiteral(LOCKSTEP_BIN_DIR "/lockstep-worker");
}

bool hasRealWorker()
{
    return QFileInfo(realWorker()).isExecutable();
}

} // namespace lockstep::e2e
