#include "app/gui/cli_commands.h"

#include "app/gui/run_arguments.h"
#include "app/gui/script_arguments.h"
#include "core/config/json.h"
#include "core/store/project_store.h"
#include "ui/models/cli_program.h"
#include "ui/models/shell_words.h"

#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTimer>

#include <csignal>
#include <memory>
#include <unistd.h>

namespace lockstep {

namespace {

constexpr int kLongestImportMs = 60'000; // torch from a cold network disk
constexpr int kGateFails = 1;            // exit code 1 is a verdict, not an error

// The command line prints what, why and what to do; the first line may carry a "lockstep-cli: " in front.
QString sentenceOf(const QByteArray& error)
{
    QString text = QString::fromUtf8(error).trimmed();
    for (const QString& prefix : {QStringLiteral("lockstep-cli: "), QStringLiteral("error: ")})
        if (text.startsWith(prefix))
            text.remove(0, prefix.size());
    return text;
}

QByteArray contents(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

CliCommands::CliCommands(QObject* parent) : RunCommands(parent)
{
}

CliCommands::~CliCommands()
{
    // QProcess would kill its child. Closing the window stops nothing, so the objects are left to the end of the process.
    for (QProcess* process : std::as_const(running_))
        process->disconnect(this);
}

void CliCommands::run(const QString& command, const QStringList& arguments, int mostAllowed, Done done,
                      const QString& workingFolder, bool waits, int call)
{
    const QString program = findCli();
    auto scratch = std::make_shared<QTemporaryDir>();
    if (program.isEmpty()) {
        // Later, as every other answer: who asked does not know the number of the call yet.
        const QString sentence =
            tr("lockstep-cli was not found. It does the work and should stand beside this program. "
               "Install it there or set LOCKSTEP_CLI.");
        QMetaObject::invokeMethod(
            this, [this, command, sentence, call] { Q_EMIT failed(command, sentence, call); },
            Qt::QueuedConnection);
        return;
    }
    // Files instead of pipes: a command that outlives the window may go on writing.
    const QString output = scratch->filePath(QStringLiteral("out"));
    const QString error = scratch->filePath(QStringLiteral("err"));
    auto* process = new QProcess; // no parent, see the destructor
    process->setStandardInputFile(QProcess::nullDevice());
    process->setStandardOutputFile(output);
    process->setStandardErrorFile(error);
    process->setChildProcessModifier([] { ::setsid(); });
    if (!workingFolder.isEmpty())
        process->setWorkingDirectory(workingFolder);
    running_ << process;
    if (waits)
        waiting_ << process;
    const auto finish = [this, process] {
        running_.removeOne(process);
        waiting_.removeOne(process);
        process->deleteLater();
        Q_EMIT pendingChanged(pending());
    };
    connect(process, &QProcess::finished, this,
            [this, finish, scratch, output, error, command, mostAllowed, done,
             call](int code, QProcess::ExitStatus status) {
                finish();
                if (status == QProcess::NormalExit && code <= mostAllowed)
                    done(code, contents(output));
                else if (status == QProcess::NormalExit)
                    Q_EMIT failed(command, sentenceOf(contents(error)), call);
                else
                    Q_EMIT failed(command, tr("The command was cancelled."), call);
            });
    connect(
        process, &QProcess::errorOccurred, this,
        [this, finish, command, program, call](QProcess::ProcessError what) {
            if (what != QProcess::FailedToStart)
                return; // finished() reports the rest
            finish();
            Q_EMIT failed(
                command,
                tr("%1 could not be started. It is not an executable program. Build it again.").arg(program),
                call);
        });
    process->start(program, arguments);
    Q_EMIT pendingChanged(pending());
}

void CliCommands::createProject(const QString& folder, const QString& workload)
{
    run(QStringLiteral("init"), {QStringLiteral("init"), folder, QStringLiteral("--workload"), workload}, 0,
        [this, folder](int, const QByteArray&) { Q_EMIT projectCreated(folder); });
}

int CliCommands::startRunWith(const RunConfig& config, const QStringList& further)
{
    const int call = ++calls_;
    QStringList words{QStringLiteral("run"), folder_};
    words += runArguments(config);
    words << further << QStringLiteral("--detach") << QStringLiteral("--json");
    run(
        QStringLiteral("run"), words, 0,
        [this, call](int, const QByteArray& output) { runBegan(QStringLiteral("run"), output, call, {}); },
        {}, false, call);
    return call;
}

// The document of a detached run that has begun.
void CliCommands::runBegan(const QString& command, const QByteArray& answer, int call,
                           const std::function<void(const QString& id)>& then)
{
    const Result<rapidjson::Document> json = parseJson(answer.toStdString(), "The answer of lockstep-cli");
    if (!json || !json->IsObject() || !json->HasMember("run") || !(*json)["run"].IsString()) {
        Q_EMIT failed(command,
                      tr("The answer of lockstep-cli could not be read. The run may have "
                         "started; it then appears in the list."),
                      call);
        return;
    }
    const QString id = QString::fromUtf8((*json)["run"].GetString());
    Q_EMIT runStarted(id, call);
    if (then)
        then(id);
}

void CliCommands::startScript(QList<ScriptRun> scripts, const QString& after)
{
    if (scripts.isEmpty())
        return;
    const ScriptRun script = scripts.takeFirst();
    const QString scriptFolder = QString::fromStdString(script.command.folder);
    if (!QFileInfo(scriptFolder).isDir()) { // of a run again: the folder may have moved since
        Q_EMIT failed(QStringLiteral("probe"),
                      tr("The script was not started. Its working folder %1 is not there. "
                         "Use my script takes another one.")
                          .arg(scriptFolder));
        return;
    }
    QStringList words{QStringLiteral("probe"), folder_};
    if (!after.isEmpty())
        words << QStringLiteral("--after") << after;
    words += QStringList{QStringLiteral("--detach"), QStringLiteral("--json")} + probeArguments(script);
    const auto begun = [this, scripts](const QString& id) { startScript(scripts, id); };
    run(
        QStringLiteral("probe"), words, 0,
        [this, begun](int, const QByteArray& output) { runBegan(QStringLiteral("probe"), output, 0, begun); },
        scriptFolder, !after.isEmpty());
}

void CliCommands::checkInterpreter(const QString& path)
{
    auto* process = new QProcess(this);
    // Whatever the environment prints while it starts, the last line is ours.
    const QString question =
        QStringLiteral("import json, platform, torch, torch.distributed.run\n"
                       "print()\n"
                       "print(json.dumps([platform.python_version(), torch.__version__]))");
    connect(process, &QProcess::finished, this, [this, process, path](int code, QProcess::ExitStatus status) {
        process->deleteLater();
        Q_EMIT interpreterChecked(interpreterFacts(path, status == QProcess::NormalExit ? code : -1,
                                                   process->readAllStandardOutput(),
                                                   process->readAllStandardError()));
    });
    connect(process, &QProcess::errorOccurred, this, [this, process, path](QProcess::ProcessError what) {
        if (what != QProcess::FailedToStart)
            return;
        process->deleteLater();
        Q_EMIT interpreterChecked(interpreterFacts(path, -1, {}, {}));
    });
    QTimer::singleShot(kLongestImportMs, process, &QProcess::kill);
    process->start(path, {QStringLiteral("-c"), question}, QIODevice::ReadOnly);
}

void CliCommands::stopRun(const QString& runId)
{
    run(QStringLiteral("stop"),
        {QStringLiteral("stop"), folder_, runId, QStringLiteral("--timeout"), QStringLiteral("0")}, 0,
        [](int, const QByteArray&) {});
}

void CliCommands::judgeGate(const QString& phase)
{
    judgeGateWith(phase, {});
}

void CliCommands::judgeGateWith(const QString& phase, const QStringList& words)
{
    Q_EMIT gateStarted(phase);
    run(QStringLiteral("gate"), QStringList{QStringLiteral("gate"), folder_, phase} + words, kGateFails,
        [this, phase](int, const QByteArray&) { Q_EMIT gateJudged(phase); });
}

void CliCommands::overrideGate(const QString& phase, const QString& reason)
{
    run(QStringLiteral("gate"),
        {QStringLiteral("gate"), folder_, phase, QStringLiteral("--override"), reason}, kGateFails,
        [this, phase](int, const QByteArray&) { Q_EMIT gateJudged(phase); });
}

void CliCommands::importLogs(const QStringList& paths)
{
    run(QStringLiteral("import"),
        QStringList{QStringLiteral("import"), folder_} + paths + QStringList{QStringLiteral("--json")}, 0,
        [this](int, const QByteArray& output) {
            QStringList runs, problems;
            const QJsonObject answer = QJsonDocument::fromJson(output).object();
            for (const QJsonValue& run : answer.value(QLatin1String("runs")).toArray())
                runs << run[QLatin1String("run")].toString();
            for (const QJsonValue& problem : answer.value(QLatin1String("problems")).toArray()) {
                const QString file = problem[QLatin1String("file")].toString();
                const QString text = problem[QLatin1String("text")].toString();
                problems << (problem[QLatin1String("offset")].isNull()
                                 ? tr("%1: %2.").arg(file, text)
                                 : tr("%1, byte %2: %3.")
                                       .arg(file)
                                       .arg(problem[QLatin1String("offset")].toInteger())
                                       .arg(text));
            }
            Q_EMIT logsImported(runs, problems);
        });
}

void CliCommands::diagnose(const QString& runA, const QString& runB, bool prove)
{
    QStringList words{QStringLiteral("diagnose"), folder_, runA, runB};
    if (prove)
        words << QStringLiteral("--prove");
    run(QStringLiteral("diagnose"), words, kGateFails,
        [this](int, const QByteArray&) { Q_EMIT diagnosed(); });
}

void CliCommands::separate(const QString& runA, const QString& runB)
{
    run(QStringLiteral("diagnose"),
        {QStringLiteral("diagnose"), folder_, runA, runB, QStringLiteral("--separate"),
         QStringLiteral("--prove")},
        kGateFails, [this](int, const QByteArray&) { Q_EMIT diagnosed(); });
}

void CliCommands::playDrill(const QString& kind)
{
    run(QStringLiteral("drill"), {QStringLiteral("drill"), folder_, kind}, kGateFails,
        [this, kind](int, const QByteArray&) { Q_EMIT drillPlayed(kind); });
}

void CliCommands::writeReport(const QString& path)
{
    run(QStringLiteral("report"), {QStringLiteral("report"), folder_, QStringLiteral("-o"), path}, kGateFails,
        [this, path](int, const QByteArray&) { Q_EMIT reportWritten(path); });
}

void CliCommands::removeRun(const QString& runId)
{
    changeStore(runId, true);
}

void CliCommands::restoreRun(const QString& runId)
{
    changeStore(runId, false);
}

// A short transaction in the index of the project, nothing in the run itself.
void CliCommands::changeStore(const QString& runId, bool remove)
{
    jobs_.startNext(
        [folder = folder_.toStdString(), id = runId.toStdString(), remove](const JobToken&) {
            Result<ProjectStore> store = ProjectStore::open(folder);
            if (!store)
                return QString::fromStdString(store.error().sentence());
            const Status changed = remove ? store->removeRun(id) : store->restoreRun(id);
            return changed ? QString() : QString::fromStdString(changed.error().sentence());
        },
        [this, runId, remove](const QString& error) {
            if (!error.isEmpty())
                Q_EMIT failed(remove ? QStringLiteral("remove") : QStringLiteral("restore"), error);
            else if (remove)
                Q_EMIT runRemoved(runId);
            else
                Q_EMIT runRestored(runId);
        });
}

QString CliCommands::commandLine(const RunConfig& config) const
{
    QStringList words{QStringLiteral("lockstep-cli"), QStringLiteral("run"),
                      folder_.isEmpty() ? QStringLiteral("DIR") : folder_};
    return shellLine(words + runArguments(config));
}

QString CliCommands::scriptLine(const ScriptRun& script) const
{
    const QStringList words{QStringLiteral("lockstep-cli"), QStringLiteral("probe"),
                            folder_.isEmpty() ? QStringLiteral("DIR") : folder_};
    return shellLine(words + probeArguments(script));
}

void CliCommands::cancelPending()
{
    for (QProcess* process : std::as_const(running_))
        if (!waiting_.contains(process))
            process->terminate();
}

} // namespace lockstep
