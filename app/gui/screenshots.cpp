#include "app/gui/screenshots.h"

#include "ui/window/main_window.h"
#include "ui/window/page_registry.h"

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>

#include <cstdio>

namespace lockstep {

namespace {

constexpr int kSettleMs = 350; // nothing was busy for this long
constexpr int kLongestMs = 20'000;

void settle(const MainWindow& window)
{
    QElapsedTimer all, quiet;
    all.start();
    quiet.start();
    while (all.elapsed() < kLongestMs && quiet.elapsed() < kSettleMs) {
        QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
        if (window.busy())
            quiet.restart();
    }
}

} // namespace

int takeScreenshots(MainWindow& window, const QString& folder)
{
    if (!QDir().mkpath(folder)) {
        std::fprintf(stderr,
                     "lockstep: The folder %s cannot be made. It is not writable. Choose another one.\n",
                     qPrintable(folder));
        return 3;
    }
    settle(window); // verdicts of all runs
    int number = 0;
    const auto take = [&](const QString& name) {
        settle(window);
        const QString path = QDir(folder).filePath(
            QStringLiteral("%1-%2.png").arg(++number, 2, 10, QLatin1Char('0')).arg(name));
        if (!window.grab().save(path)) {
            std::fprintf(stderr, "lockstep: %s cannot be written. The folder is not writable or full.\n",
                         qPrintable(path));
            return false;
        }
        std::printf("%s\n", qPrintable(path));
        return true;
    };
    if (!window.project().isOpen())
        return take(QStringLiteral("start")) ? 0 : 3;
    for (const bool phases : {false, true}) {
        for (const PageEntry& entry : pageEntries()) {
            if (entry.phase != phases)
                continue;
            window.openPage(QString::fromLatin1(entry.id));
            if (!take(QString::fromLatin1(entry.id)))
                return 3;
        }
    }
    window.openPage(QStringLiteral("runs"), QStringLiteral("new:ddp"));
    if (!take(QStringLiteral("runs-new")))
        return 3;
    window.openPage(QStringLiteral("runs"), QStringLiteral("script"));
    return take(QStringLiteral("runs-script")) ? 0 : 3;
}

} // namespace lockstep
