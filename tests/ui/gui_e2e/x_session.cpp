#include "x_session.h"

#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QProcessEnvironment>
#include <QStandardPaths>
#include <QTest>

#include <csignal>
#include <sys/prctl.h>

namespace lockstep::test {

namespace {

// In the child: a test that is killed leaves nothing behind.
void endWithTheTest()
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

} // namespace

XSession::~XSession()
{
    for (auto it = programs_.rbegin(); it != programs_.rend(); ++it) {
        (*it)->terminate();
        if (!(*it)->waitForFinished(5000)) {
            (*it)->kill();
            (*it)->waitForFinished(2000);
        }
    }
    if (server_.state() != QProcess::NotRunning) {
        server_.terminate();
        if (!server_.waitForFinished(3000))
            server_.kill();
        server_.waitForFinished(1000);
    }
}

QString XSession::start(const QSize& screen)
{
    for (const char* program : {"Xvfb", "xdotool"})
        if (QStandardPaths::findExecutable(QString::fromLatin1(program)).isEmpty())
            return QStringLiteral("%1 is not installed; apt-get install xvfb xdotool")
                .arg(QLatin1String(program));
    // The server chooses a free display and writes its number into the pipe it is given: no race for a number.
    const QString chosen = QStringLiteral("/tmp/lockstep-display-%1").arg(QCoreApplication::applicationPid());
    QFile::remove(chosen);
    server_.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    server_.setStandardOutputFile(chosen);
    server_.setChildProcessModifier(endWithTheTest);
    server_.start(QStringLiteral("Xvfb"),
                  {QStringLiteral("-displayfd"), QStringLiteral("1"), QStringLiteral("-screen"),
                   QStringLiteral("0"), QStringLiteral("%1x%2x24").arg(screen.width()).arg(screen.height()),
                   QStringLiteral("-nolisten"), QStringLiteral("tcp")});
    if (!server_.waitForStarted())
        return QStringLiteral("Xvfb does not start: %1").arg(server_.errorString());
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < 15'000 && display_.isEmpty()) {
        QFile file(chosen);
        if (file.open(QIODevice::ReadOnly)) {
            const QByteArray number = file.readAll();
            if (number.endsWith('\n'))
                display_ = QLatin1Char(':') + QString::fromLatin1(number.trimmed());
        }
        QTest::qWait(50);
    }
    QFile::remove(chosen);
    return display_.isEmpty() ? QStringLiteral("Xvfb does not answer; start it by hand to see why")
                              : QString();
}

QProcessEnvironment XSession::environment() const
{
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("DISPLAY"), display_);
    environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("xcb"));
    environment.remove(QStringLiteral("WAYLAND_DISPLAY"));
    return environment;
}

QProcess* XSession::launch(const QString& program, const QStringList& arguments)
{
    auto process = std::make_unique<QProcess>();
    process->setProcessEnvironment(environment());
    process->setProcessChannelMode(QProcess::ForwardedErrorChannel); // its output is what it answers
    process->setChildProcessModifier(endWithTheTest);
    process->start(program, arguments);
    process->waitForStarted();
    programs_.push_back(std::move(process));
    return programs_.back().get();
}

QString XSession::xdotool(const QStringList& arguments)
{
    QProcess tool;
    tool.setProcessEnvironment(environment());
    tool.start(QStringLiteral("xdotool"), arguments);
    tool.waitForFinished(10'000);
    return QString::fromUtf8(tool.readAllStandardOutput()).trimmed();
}

qulonglong XSession::windowOf(qint64 pid, int timeoutMs, const QString& title)
{
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < timeoutMs) {
        const QString found =
            xdotool({QStringLiteral("search"), QStringLiteral("--onlyvisible"), QStringLiteral("--pid"),
                     QString::number(pid), QStringLiteral("--all"), QStringLiteral("--name"), title});
        if (!found.isEmpty())
            return found.split(QLatin1Char('\n')).first().toULongLong();
        QTest::qWait(100);
    }
    return 0;
}

// There is no window manager that would do it.
void XSession::focus(qulonglong window)
{
    xdotool({QStringLiteral("windowfocus"), QStringLiteral("--sync"), QString::number(window)});
}

void XSession::move(const QPoint& screen)
{
    xdotool({QStringLiteral("mousemove"), QString::number(screen.x()), QString::number(screen.y())});
}

void XSession::click(const QPoint& screen)
{
    move(screen);
    xdotool({QStringLiteral("click"), QStringLiteral("1")});
}

void XSession::key(const QString& keys)
{
    xdotool({QStringLiteral("key"), keys});
}

void XSession::type(const QString& text)
{
    xdotool({QStringLiteral("type"), QStringLiteral("--delay"), QStringLiteral("15"), text});
}

bool XSession::screenshot(const QString& path)
{
    // The helper is this very program's Qt: a small process with the display grabs the root window.
    QProcess grab;
    grab.setProcessEnvironment(environment());
    grab.start(QCoreApplication::applicationDirPath() + QStringLiteral("/grab_screen"), {path});
    return grab.waitForFinished(20'000) && grab.exitCode() == 0 && QFileInfo(path).size() > 0;
}

} // namespace lockstep::test
