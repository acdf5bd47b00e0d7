// RunCommands by the real program: scripts of a user's own, one after the other. The ranks are fakes without torch.
#include "app/gui/cli_commands.h"
#include "core/store/project_store.h"
#include "ui/models/cli_program.h"
#include "ui/widgets/theme.h"
#include "ui/window/main_window.h"

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace lockstep;

namespace {

const QString kRanks = QStringLiteral(LOCKSTEP_SOURCE_DIR "/tests/python/scripts/fake_ranks.py");

} // namespace

class CliCommandsTest : public QObject
{
    Q_OBJECT

    QTemporaryDir dir_;
    QString python_;

    QString project() const { return dir_.filePath(QStringLiteral("p")); }
    ScriptRun fake(const std::vector<std::string>& ranks) const
    {
        ScriptRun run;
        run.name = QStringLiteral("fake");
        run.command.words = {python_.toStdString(), kRanks.toStdString(), "lockstep_probe"};
        run.command.words.insert(run.command.words.end(), ranks.begin(), ranks.end());
        run.command.folder = dir_.path().toStdString();
        run.command.world = int(ranks.size());
        run.command.ddp = ranks.size() > 1;
        return run;
    }
    // A package that calls itself torch: importing the real one takes seconds.
    void makeTorch()
    {
        const QString package = dir_.filePath(QStringLiteral("packages/torch"));
        QVERIFY(QDir().mkpath(package + QStringLiteral("/distributed")));
        for (const char* name : {"__init__.py", "distributed/__init__.py", "distributed/run.py"}) {
            QFile file(package + QLatin1Char('/') + QLatin1String(name));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write("__version__ = '2.15.0'\n");
        }
        qputenv("PYTHONPATH", dir_.filePath(QStringLiteral("packages")).toLocal8Bit());
    }
    std::vector<RunInfo> runs() const
    {
        Result<ProjectStore> store = ProjectStore::open(project().toStdString());
        if (!store)
            return {};
        const Result<std::vector<RunInfo>> list = store->runs();
        return list ? *list : std::vector<RunInfo>();
    }

private Q_SLOTS:
    void initTestCase()
    {
        const QByteArray cli = LOCKSTEP_BIN_DIR "/lockstep-cli";
        python_ = QStandardPaths::findExecutable(QStringLiteral("python3"));
        if (!QFile::exists(QString::fromLocal8Bit(cli)))
            QSKIP("lockstep-cli is not built; ./dev build makes it");
        if (python_.isEmpty())
            QSKIP("There is no python3; install it with apt-get install python3");
        qputenv("LOCKSTEP_CLI", cli);
        QStandardPaths::setTestModeEnabled(true);
        theme::apply(*qApp, ThemeKind::Light);
    }

    void init() { QVERIFY(ProjectStore::create(project().toStdString(), "toy-mlp").ok()); }
    void cleanup() { QVERIFY(QDir(project()).removeRecursively()); }

    void theSecondScriptBeginsWhenTheFirstHasFinished()
    {
        CliCommands commands;
        commands.setProjectFolder(project());
        QSignalSpy started(&commands, &RunCommands::runStarted), failed(&commands, &RunCommands::failed);
        commands.startScripts({fake({"ok"}), fake({"ok", "ok"})});
        QTRY_COMPARE_WITH_TIMEOUT(started.size(), 1, 30'000);
        QCOMPARE(commands.pending(), 0); // what only waits is nothing to look at
        commands.cancelPending();        // nor to cancel
        QTRY_COMPARE_WITH_TIMEOUT(started.size(), 2, 30'000);
        QVERIFY(failed.isEmpty());
        const std::vector<RunInfo> list = runs(); // newest first
        QCOMPARE(list.size(), std::size_t(2));
        QCOMPARE(list[1].state, RunState::Finished);
        QVERIFY(list[0].startedUnixMs >= list[1].endedUnixMs);
        QCOMPARE(list[0].id, started[1].first().toString().toStdString());
        QTRY_COMPARE_WITH_TIMEOUT(runs().front().state, RunState::Finished, 30'000);
        QCOMPARE(runs().front().exitCodes, std::vector<int>({0, 0}));
        const std::optional<ScriptCommand> kept = scriptCommandOf(runs().back().configJson);
        QVERIFY(kept);
        QCOMPARE(kept->folder, QFileInfo(dir_.path()).canonicalFilePath().toStdString());
        QCOMPARE(kept->words, fake({"ok"}).command.words);
    }

    void anImportedLogIsARunAndItsDamageIsTold()
    {
        CliCommands commands;
        commands.setProjectFolder(project());
        QSignalSpy imported(&commands, &RunCommands::logsImported), failed(&commands, &RunCommands::failed);
        QFile log(dir_.filePath(QStringLiteral("mine.log")));
        QVERIFY(log.open(QIODevice::WriteOnly));
        log.write("step:  1  loss:  0.50000\nstep:  2  lo");
        log.close();
        commands.importLogs({log.fileName()});
        QTRY_COMPARE_WITH_TIMEOUT(imported.size(), 1, 30'000);
        QCOMPARE(imported[0][0].toStringList(), QStringList{QStringLiteral("mine-01")});
        QCOMPARE(imported[0][1].toStringList().size(), 1);
        QVERIFY(imported[0][1].toStringList()[0].contains(QStringLiteral("byte 25")));
        QCOMPARE(runs().front().state, RunState::Finished);
        commands.importLogs({dir_.filePath(QStringLiteral("absent"))});
        QTRY_COMPARE_WITH_TIMEOUT(failed.size(), 1, 30'000);
        QCOMPARE(failed[0][0].toString(), QStringLiteral("import"));
    }

    // Whoever asked learns the number of the call first, then that it failed.
    void aCommandLineThatIsMissingIsToldAfterTheCall()
    {
        const QByteArray cli = qgetenv("LOCKSTEP_CLI"), path = qgetenv("PATH");
        qunsetenv("LOCKSTEP_CLI");
        qputenv("PATH", "/nonexistent");
        CliCommands commands;
        commands.setProjectFolder(project());
        QSignalSpy failed(&commands, &RunCommands::failed);
        const bool missing = findCli().isEmpty();
        const int call = commands.startRun(RunConfig());
        const bool early = !failed.isEmpty();
        qputenv("LOCKSTEP_CLI", cli);
        qputenv("PATH", path);
        QVERIFY(missing && !early);
        QTRY_COMPARE_WITH_TIMEOUT(failed.size(), 1, 30'000);
        QCOMPARE(failed.first().at(2).toInt(), call);
    }

    void afterAFailureNothingMoreIsStarted()
    {
        CliCommands commands;
        commands.setProjectFolder(project());
        QSignalSpy failed(&commands, &RunCommands::failed);
        commands.startScripts({fake({"raise"}), fake({"ok", "ok"})});
        QTRY_COMPARE_WITH_TIMEOUT(failed.size(), 1, 30'000);
        QCOMPARE(failed.first().at(0).toString(), QStringLiteral("probe"));
        QVERIFY(
            failed.first().at(1).toString().startsWith(QStringLiteral("Nothing was started after fake-01")));
        QCOMPARE(runs().size(), std::size_t(1));
    }

    void theSecondScriptBeginsWithoutTheWindow()
    {
        {
            CliCommands commands; // as when the window is closed: it stops nothing
            commands.setProjectFolder(project());
            QSignalSpy started(&commands, &RunCommands::runStarted);
            commands.startScripts({fake({"ok"}), fake({"ok", "ok"})});
            QTRY_COMPARE_WITH_TIMEOUT(started.size(), 1, 30'000);
        }
        QTRY_COMPARE_WITH_TIMEOUT(runs().size(), std::size_t(2), 30'000);
        QTRY_COMPARE_WITH_TIMEOUT(runs().front().state, RunState::Finished, 30'000);
    }

    void fromTheFormToTwoRunsThatAreCompared()
    {
        makeTorch();
        CliCommands commands;
        MainWindow window(commands);
        window.setRemembering(false);
        window.show();
        window.openProject(project());
        QTRY_COMPARE(window.currentPage(), QStringLiteral("overview"));
        window.openPage(QStringLiteral("runs"), QStringLiteral("script"));
        const auto edit = [&](const char* name) { return window.findChild<QLineEdit*>(QLatin1String(name)); };
        const auto button = [&](const char* name) {
            return window.findChild<QPushButton*>(QLatin1String(name));
        };
        edit("scriptFolder")->setText(dir_.path());
        window.findChild<QComboBox*>(QStringLiteral("scriptInterpreter"))->setEditText(python_);
        edit("scriptSingle")->setText(QStringLiteral("python %1 lockstep_probe ok").arg(kRanks));
        edit("scriptDdp")->setText(QStringLiteral("python %1 lockstep_probe ok ok").arg(kRanks));
        window.findChild<QSpinBox*>(QStringLiteral("scriptRanks"))->setValue(2);
        QTRY_VERIFY_WITH_TIMEOUT(button("startScript")->isEnabled(),
                                 60'000); // the interpreter has named its torch
        QCOMPARE(window.findChild<QLabel*>(QStringLiteral("scriptInterpreterNote"))
                     ->text()
                     .section(QLatin1Char(' '), 2),
                 QStringLiteral("torch 2.15.0"));
        QTest::mouseClick(button("startScript"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(button("scriptFindings")->isEnabled(), 60'000);
        const std::vector<RunInfo> list = runs();
        QCOMPARE(list.size(), std::size_t(2));
        QCOMPARE(window.selection().runA().toStdString(), list[1].id);
        QCOMPARE(window.selection().runB().toStdString(), list[0].id);
        QTest::mouseClick(button("scriptFindings"), Qt::LeftButton);
        QCOMPARE(window.currentPage(), QStringLiteral("findings"));
        qunsetenv("PYTHONPATH");
    }

    void aScriptWhoseFolderIsGoneIsNotStarted()
    {
        CliCommands commands;
        commands.setProjectFolder(project());
        QSignalSpy failed(&commands, &RunCommands::failed);
        ScriptRun gone = fake({"ok"});
        gone.command.folder += "/gone";
        commands.startScripts({gone});
        QCOMPARE(failed.size(), 1);
        QVERIFY(failed.first().at(1).toString().contains(QStringLiteral("/gone is not there")));
        QVERIFY(runs().empty());
    }

    void whatIsNoPythonWithTorchSaysSo()
    {
        CliCommands commands;
        QSignalSpy answer(&commands, &RunCommands::interpreterChecked);
        commands.checkInterpreter(QStringLiteral("/bin/false"));
        commands.checkInterpreter(QStringLiteral("/not/there"));
        QTRY_COMPARE_WITH_TIMEOUT(answer.size(), 2, 30'000);
        for (const QList<QVariant>& one : answer) {
            const auto facts = one.first().value<InterpreterFacts>();
            QVERIFY(facts.torch.isEmpty());
            QVERIFY2(facts.error.startsWith(facts.path) && facts.error.endsWith(QLatin1Char('.')),
                     qPrintable(facts.error));
        }
    }
};

QTEST_MAIN(CliCommandsTest)
#include "tst_cli_commands.moc"
