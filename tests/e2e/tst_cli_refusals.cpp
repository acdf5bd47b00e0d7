// Commands that train several times: what could never end is refused before it begins, and a stop signal ends all of it.
#include "tests/e2e/cli_runner.h"

#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <memory>

using namespace lockstep;
using namespace lockstep::e2e;

class TestCliRefusals : public ProjectTest
{
    Q_OBJECT

    static void isRefused(const CliResult& result, const char* word)
    {
        QCOMPARE(result.exitCode, 2);
        QVERIFY2(result.error.contains(word), result.error.constData());
        QCOMPARE(result.error.count('\n'), 1);
        QVERIFY2(result.error.size() < 600,
                 result.error.constData()); // no bound of 309 digits, no whole catalogue
        QVERIFY(result.out.isEmpty());
    }

private Q_SLOTS:
    void init() { QVERIFY(makeProject(QStringLiteral(LOCKSTEP_FAKE_WORKER))); }
    void cleanup() { QVERIFY(cli_->nothingLeft()); }

    void whatBreaksNothingIsRefused_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QByteArray>("word");
        using L = QStringList;
        using B = QByteArray;
        QTest::newRow("rank beyond") << L{"drill", "DIR", "throw", "--rank", "99"} << B("ranks are 0 to 1");
        QTest::newRow("first rank beyond")
            << L{"drill", "DIR", "kill", "--rank", "3", "--world", "3"} << B("ranks are 0 to 2");
        QTest::newRow("negative rank") << L{"drill", "DIR", "kill", "--rank", "-1"} << B("--rank -1");
        QTest::newRow("step beyond") << L{"drill", "DIR", "kill", "--step", "9999", "--steps", "10"}
                                     << B("steps are 1 to 10");
        QTest::newRow("step beyond all")
            << L{"drill", "DIR", "kill", "--step", "2000000"} << B("1 to 1000000");
        QTest::newRow("negative step") << L{"drill", "DIR", "kill", "--step", "-1"} << B("--step -1");
        QTest::newRow("one rank") << L{"drill", "DIR", "all", "--world", "1"} << B("at least 2 ranks");
        for (const char* value : {"-1", "0", "nan", "inf"})
            QTest::addRow("timeout %s", value)
                << L{"drill", "DIR", "kill", "--timeout", value} << B("--timeout");
        QTest::newRow("no drill") << L{"drill", "DIR", "--count", "0"} << B("1 to 100000");
        QTest::newRow("degrade in no time")
            << L{"drill", "DIR", "degrade", "--steps", "3"} << B("needs at least 5");
        QTest::newRow("no samples") << L{"gate", "DIR", "data", "--samples", "-5"} << B("0 to 1000000000000");
        QTest::newRow("no such rank")
            << L{"ckpt", "diff", "a", "--run", "DIR", "x", "--rank", "-1"} << B("0 to 1023");
        QTest::newRow("switch to nothing") << L{"switch", "DIR", "x", "--world", "0"} << B("1 to 1024");
    }
    void whatBreaksNothingIsRefused()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QByteArray, word);
        arguments.replaceInStrings(QStringLiteral("DIR"), project_);
        isRefused(cli_->run(arguments), word.constData());
        QVERIFY(cli_->run({"runs", project_, "--json"}).json().Empty());
    }

    void whatTheEngineDoesNotKnowIsRefusedBeforeThereIsARun_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QByteArray>("word");
        using L = QStringList;
        using B = QByteArray;
        QTest::newRow("project of no workload")
            << L{"init", "DIR-2", "--workload", "nope"} << B("Known are char-gpt, digits-cnn, toy-mlp");
        QTest::newRow("no such workload") << L{"run", "DIR", "--workload", "nope"} << B("char-gpt");
        QTest::newRow("no such option")
            << L{"run", "DIR", "--workload-option", "raged=1"} << B("has no option raged");
        QTest::newRow("no such fault") << L{"run", "DIR", "--fault", "Z9"} << B("Z9");
        QTest::newRow("no such parameter") << L{"run", "DIR", "--fault", "A3,kk=2"} << B("kk");
        QTest::newRow("a fault that changes nothing")
            << L{"run", "DIR", "--fault", "A3,epoch=1", "--steps", "3"} << B("A3");
    }
    void whatTheEngineDoesNotKnowIsRefusedBeforeThereIsARun()
    {
        if (!hasRealWorker())
            QSKIP(kNoWorker);
        cli_->setEnvironment(QStringLiteral("LOCKSTEP_WORKER"), realWorker());
        whatBreaksNothingIsRefused();
        QVERIFY(!QFile::exists(project_ + "-2"));
    }

    void aSwitchThatTheHostWouldRefuseIsRefused()
    {
        const auto run = cli_->start({"run", project_, "--mode", "ddp", "--steps", "1000000", "--json",
                                      "--workload-option", "fake.step_us=1000"});
        QTRY_COMPARE(cli_->processes("RANK=1").size(), 1);
        isRefused(cli_->run({"switch", project_, "ddp-w2-01", "--world", "7"}), "with 7 ranks");
        QVERIFY(sendSignal(run->processId(), SIGTERM));
        QCOMPARE(Cli::wait(*run).exitCode, 143);
        QCOMPARE(cli_->run({"switch", project_, "ddp-w2-01", "--world", "1"}).exitCode, 3);
    }

    void theDashboardWithoutAScreenSaysSo()
    {
        const QString dashboard = QFileInfo(cliProgram()).path() + "/lockstep";
        if (!QFile::exists(dashboard))
            QSKIP("build/bin/lockstep is missing. Build it with ./dev build.");
        const auto ends = [&](const QStringList& arguments) {
            QProcess process;
            QProcessEnvironment bare = QProcessEnvironment::systemEnvironment();
            for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
                bare.remove(QString::fromLatin1(name));
            process.setProcessEnvironment(bare);
            process.start(dashboard, arguments);
            return Cli::wait(process);
        };
        const CliResult result = ends({});
        QCOMPARE(result.exitCode, 3);
        QVERIFY2(result.error.contains("There is no display"), result.error.constData());
        QCOMPARE(ends({"--bogus"}).exitCode, 2);
    }

    void aStopSignalEndsAllOfIt_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("signal");
        using L = QStringList;
        QTest::newRow("drill, SIGINT") << L{"drill", "DIR", "all"} << SIGINT;
        QTest::newRow("drill, SIGTERM") << L{"drill", "DIR", "kill", "--timeout", "5"} << SIGTERM;
        QTest::newRow("degrade, SIGINT") << L{"drill", "DIR", "degrade"} << SIGINT;
        QTest::newRow("gradients, SIGINT") << L{"gate", "DIR", "gradients"} << SIGINT;
        QTest::newRow("gradients, SIGTERM") << L{"gate", "DIR", "gradients"} << SIGTERM;
    }
    void aStopSignalEndsAllOfIt()
    {
        QFETCH(QStringList, arguments);
        QFETCH(int, signal);
        for (const char* phase : {"preflight", "data"})
            cli_->run(
                {"gate", project_, phase, "--samples", "64", "--override", "only the signal is tested"});
        arguments.replaceInStrings(QStringLiteral("DIR"), project_);
        const auto process = cli_->start(arguments + QStringList{"--workload-option", "fake.step_us=20000"});
        QTRY_VERIFY(!cli_->processes("RANK=0").isEmpty() || process->state() == QProcess::NotRunning);
        QVERIFY(sendSignal(process->processId(), signal));
        const CliResult result = Cli::wait(*process);
        QVERIFY2(result.exitCode == 128 + signal, result.error.constData());
        QVERIFY2(result.error.contains("Stopped on request, nothing is judged"), result.error.constData());
        QVERIFY2(!result.error.contains("Mend"), result.error.constData());
    }
};

QTEST_GUILESS_MAIN(TestCliRefusals)
#include "tst_cli_refusals.moc"
