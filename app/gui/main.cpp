// lockstep: the dashboard. Reads projects, starts runs through lockstep-cli, never trains and never writes records.
#include "app/gui/cli_commands.h"
#include "app/gui/screenshots.h"
#include "app/gui/widget_places.h"
#include "ui/models/cli_program.h"
#include "ui/pages/start_page.h"
#include "ui/widgets/theme.h"
#include "ui/window/main_window.h"

#include <CLI/CLI.hpp>

#include <QApplication>
#include <QFileInfo>
#include <QLibraryInfo>
#include <QLocale>
#include <QPixmapCache>
#include <QSettings>
#include <QThread>
#include <QTimer>
#include <QTranslator>

#include <cstdio>
#include <ctime>
#include <string>
#include <unistd.h>

using namespace lockstep;

namespace {

constexpr int kExitUsage = 2;
constexpr int kExitUnusable = 3;

struct Options {
    std::string project, page, theme, language, screenshots, size;
    bool measureStart = false;
};

bool hasScreen()
{
    return qEnvironmentVariableIsSet("QT_QPA_PLATFORM") || !qEnvironmentVariableIsEmpty("DISPLAY") ||
           !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
}

// Milliseconds since the kernel started this process (10 ms grains).
double sinceProcessStart()
{
    std::FILE* stat = std::fopen("/proc/self/stat", "r");
    if (!stat)
        return -1;
    char text[1024] = {};
    const std::size_t length = std::fread(text, 1, sizeof(text) - 1, stat);
    std::fclose(stat);
    const std::string line(text, length);
    const std::size_t name = line.rfind(')');
    unsigned long long start = 0;
    std::size_t at = name;
    for (int field = 2; field < 22 && at != std::string::npos; ++field)
        at = line.find(' ', at + 1);
    if (at == std::string::npos || std::sscanf(line.c_str() + at, "%llu", &start) != 1)
        return -1;
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (double(now.tv_sec) + double(now.tv_nsec) / 1e9 - double(start) / double(sysconf(_SC_CLK_TCK))) *
           1e3;
}

void setLanguage(QApplication& app, const QString& asked)
{
    const QString name =
        !asked.isEmpty() ? asked
                         : QSettings().value(QStringLiteral("language"), QLocale::system().name()).toString();
    const bool chinese = name.startsWith(QLatin1String("zh"));
    auto* ours = new QTranslator(&app); // English has plural forms only
    if (ours->load(chinese ? QStringLiteral(":/lockstep/i18n/lockstep_zh_CN.qm")
                           : QStringLiteral(":/lockstep/i18n/lockstep_en.qm")))
        app.installTranslator(ours);
    QLocale::setDefault(chinese ? QLocale(QLocale::Chinese, QLocale::China)
                                : QLocale(QLocale::English, QLocale::UnitedStates));
    if (!chinese)
        return;
    auto* qt = new QTranslator(&app);
    if (qt->load(QStringLiteral("qtbase_zh_CN"), QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
        app.installTranslator(qt);
}

QList<std::pair<bool, QString>> environmentFacts()
{
    const QString worker = QCoreApplication::applicationDirPath() + QStringLiteral("/lockstep-worker");
    const bool engine = QFileInfo(worker).isExecutable();
    const bool gpu = QFileInfo::exists(QStringLiteral("/dev/nvidia0"));
    return {
        {!findCli().isEmpty() && engine, engine ? StartPage::tr("engine: lockstep-worker")
                                                : StartPage::tr("no engine: runs can be read, not started")},
        {true, StartPage::tr("%n core(s)", nullptr, QThread::idealThreadCount())},
        {true, StartPage::tr("Gloo on loopback")},
        {gpu, gpu ? StartPage::tr("GPU found") : StartPage::tr("no GPU: NCCL is not offered")},
    };
}

int runWindow(QApplication& app, const Options& options)
{
    CliCommands commands;
    MainWindow window(commands);
    window.startPage().setEnvironment(environmentFacts());
    window.setRemembering(options.screenshots.empty() && !options.measureStart);
    int width = 0, height = 0;
    if (std::sscanf(options.size.c_str(), "%dx%d", &width, &height) == 2)
        window.resize(width, height);
    QObject::connect(&window, &MainWindow::themeChosen, &app, [&app](const QString& name) {
        theme::apply(app, name == QLatin1String("dark") ? ThemeKind::Dark : ThemeKind::Light);
        QSettings().setValue(QStringLiteral("theme"), name);
    });
    QObject::connect(&window, &MainWindow::languageChosen, &app,
                     [](const QString& name) { QSettings().setValue(QStringLiteral("language"), name); });
    if (!options.page.empty())
        QObject::connect(&window.project(), &ProjectModel::opened, &window,
                         [&] { window.openPage(QString::fromStdString(options.page)); });

    const auto ready = [&] { // everything that was asked for stands on the screen
        if (!options.screenshots.empty()) {
            app.exit(takeScreenshots(window, QString::fromStdString(options.screenshots)));
        } else if (options.measureStart) {
            window.repaint();
            std::printf("usable after %.0f ms\n", sinceProcessStart());
            app.exit(0);
        }
    };
    if (options.project.empty()) {
        QTimer::singleShot(0, &window, ready);
    } else {
        QObject::connect(&window.project(), &ProjectModel::opened, &window,
                         [&] { QTimer::singleShot(0, &window, ready); });
        QObject::connect(&window.project(), &ProjectModel::openFailed, &window,
                         [&](const QString&, const QString& sentence) {
                             if (options.screenshots.empty() && !options.measureStart)
                                 return; // the window says it
                             std::fprintf(stderr, "lockstep: %s\n", qPrintable(sentence));
                             app.exit(3);
                         });
        window.openProject(QString::fromStdString(options.project));
    }
    if (WidgetPlaces::wanted())
        new WidgetPlaces(&window);
    window.show();
    return app.exec();
}

} // namespace

int main(int argc, char** argv)
{
    Options options;
    CLI::App cli("The Lockstep dashboard: one training in one process and in many, over each other.",
                 "lockstep");
    cli.add_option("project", options.project, "project folder to open")->option_text("PROJECT");
    cli.add_option("--page", options.page,
                   "page to open first: overview, curves, checkpoints, runs, preflight, data, ...");
    cli.add_option("--theme", options.theme, "light or dark (default: as chosen before, else as the desktop)")
        ->check(CLI::IsMember({"light", "dark"}));
    cli.add_option("--language", options.language,
                   "en or zh_CN (default: as chosen before, else as the system)")
        ->check(CLI::IsMember({"en", "zh_CN"}));
    cli.add_option("--size", options.size, "size of the window")->option_text("WxH");
    cli.add_option("--screenshots", options.screenshots, "write every page of PROJECT as a PNG and end")
        ->option_text("DIR");
    cli.add_flag("--measure-start", options.measureStart,
                 "print the time until the window is usable and end");
    cli.set_version_flag("--version", LOCKSTEP_VERSION);
    try {
        cli.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return cli.exit(error) == 0 ? 0 : kExitUsage;
    }

    if (!options.screenshots.empty() && !qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    if (!hasScreen()) { // Qt would end the program without a word on what to do
        std::fputs("lockstep: There is no display. Neither DISPLAY nor WAYLAND_DISPLAY is set. Start it in a "
                   "desktop session, write pictures with --screenshots DIR, or use lockstep-cli.\n",
                   stderr);
        return kExitUnusable;
    }
    QApplication app(argc, argv);
    QCoreApplication::setOrganizationName(QStringLiteral("lockstep"));
    QCoreApplication::setApplicationName(QStringLiteral("lockstep"));
    QPixmapCache::setCacheLimit(32 * 1024);
    const QString chosen = !options.theme.empty() ? QString::fromStdString(options.theme)
                                                  : QSettings().value(QStringLiteral("theme")).toString();
    const ThemeKind kind = chosen == QLatin1String("dark")    ? ThemeKind::Dark
                           : chosen == QLatin1String("light") ? ThemeKind::Light
                                                              : theme::desktopPreference(app);
    setLanguage(app, QString::fromStdString(options.language));
    theme::apply(app, kind);
    return runWindow(app, options);
}
