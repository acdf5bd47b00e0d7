#include "driven_window.h"

#include <QDir>

#include <QFile>
#include <QJsonDocument>
#include <QTest>

#include <csignal>

namespace lockstep::test {

QString program(const char* name)
{
    return QStringLiteral(LOCKSTEP_BIN_DIR "/") + QString::fromLatin1(name);
}

QString missingProgram()
{
    for (const char* name : {"lockstep", "lockstep-cli", "lockstep-worker"})
        if (!QFile::exists(program(name)))
            return QStringLiteral("%1 is not built; ./dev build makes it").arg(program(name));
    return {};
}

QString prepareSession(XSession& session, const QSize& screen, const QString& folder)
{
    if (const QString why = missingProgram(); !why.isEmpty())
        return why;
    if (const QString why = session.start(screen); !why.isEmpty())
        return why;
    QDir().mkpath(QStringLiteral(LOCKSTEP_SCREENSHOT_DIR));
    qputenv("LOCKSTEP_TELL_PLACES", "1");
    qputenv("XDG_CONFIG_HOME", (folder + QStringLiteral("/config")).toLocal8Bit());
    return {};
}

bool DrivenWindow::open(const QStringList& more)
{
    process_ = session_.launch(program("lockstep"),
                               QStringList{project_, QStringLiteral("--theme"), QStringLiteral("light"),
                                           QStringLiteral("--language"), QStringLiteral("en"),
                                           QStringLiteral("--size"), QStringLiteral("1600x1000")} +
                                   more);
    window_ = session_.windowOf(process_->processId(), 20'000);
    if (window_ == 0)
        return false;
    session_.focus(window_);
    QTest::qWait(700);
    return true;
}

bool DrivenWindow::toDialog(const QString& title)
{
    const qulonglong dialog = session_.windowOf(process_->processId(), 10'000, title);
    if (dialog != 0)
        session_.focus(dialog);
    return dialog != 0;
}

QRect DrivenWindow::place(const char* name, int row)
{
    const QByteArray asked =
        QByteArray(name) + (row >= 0 ? ':' + QByteArray::number(row) : QByteArray()) + '\n';
    QRect found;
    const auto tell = [&] {
        process_->readAllStandardOutput(); // of a question before that came too late
        process_->write(asked);
        if (!QTest::qWaitFor([this] { return process_->canReadLine(); }, 2000))
            return false;
        const QList<QByteArray> words = process_->readLine().trimmed().split(' ');
        if (words.size() == 4)
            found = {words[0].toInt(), words[1].toInt(), words[2].toInt(), words[3].toInt()};
        return !found.isEmpty();
    };
    return QTest::qWaitFor(tell, 10'000) ? found : QRect();
}

bool DrivenWindow::click(const char* name, int row)
{
    const QRect where = place(name, row);
    if (where.isEmpty())
        return false;
    session_.click(where.center());
    return true;
}

bool DrivenWindow::kill()
{
    if (process_->processId() > 0) // 0 would be the whole process group
        ::kill(pid_t(process_->processId()), SIGKILL);
    return process_->waitForFinished(5000);
}

QJsonObject DrivenWindow::close()
{
    session_.key(QStringLiteral("ctrl+q"));
    if (!process_->waitForFinished(10'000) || process_->exitCode() != 0)
        return {};
    QFile file(project_ + QStringLiteral("/session.json"));
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
}

void DrivenWindow::tabs(int count)
{
    for (int i = 0; i < count; ++i)
        session_.key(QStringLiteral("Tab"));
}

// F5 opens the form with the focus on "mode"; fields follow in reading order.
void DrivenWindow::fillInRun(const QString& mode, const QString& steps, const QString& fault)
{
    session_.key(QStringLiteral("F5"));
    QTest::qWait(300);
    session_.type(mode);
    tabs(4); // workload, ranks, batch, steps
    session_.key(QStringLiteral("ctrl+a"));
    session_.type(steps);
    // micro-steps, optimizer, lr, scheduler, clip, seed, record, checkpoints, fault; before that what happens when ranks
    // are lost, where there are several
    tabs(mode == QLatin1String("ddp") || mode == QLatin1String("fsdp") ? 10 : 9);
    session_.key(QStringLiteral("ctrl+a"));
    session_.key(QStringLiteral("BackSpace"));
    if (!fault.isEmpty())
        session_.type(fault);
    tabs(2); // name, Start run
    QTest::qWait(200);
}

void DrivenWindow::startRun(const QString& mode, const QString& steps, const QString& fault)
{
    fillInRun(mode, steps, fault);
    session_.key(QStringLiteral("space"));
}

std::vector<RunInfo> runsOf(const QString& project)
{
    Result<ProjectStore> store = ProjectStore::open(project.toStdString());
    if (!store)
        return {};
    Result<std::vector<RunInfo>> all = store->runs();
    return all ? all.value() : std::vector<RunInfo>{};
}

std::vector<GateInfo> gatesOf(const QString& project)
{
    Result<ProjectStore> store = ProjectStore::open(project.toStdString());
    if (!store)
        return {};
    Result<std::vector<GateInfo>> all = store->gates();
    return all ? all.value() : std::vector<GateInfo>{};
}

GateInfo gateOf(const QString& project, const std::string& phase)
{
    for (const GateInfo& gate : gatesOf(project))
        if (gate.phase == phase)
            return gate;
    return {};
}

int runCli(const QString& project, QStringList words)
{
    words.insert(1, project);
    QProcess process;
    process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    process.start(program("lockstep-cli"), words);
    return process.waitForFinished(60'000) ? process.exitCode() : -1;
}

} // namespace lockstep::test
