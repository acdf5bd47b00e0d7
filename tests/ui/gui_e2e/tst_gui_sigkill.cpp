// SIGKILL of the window at random moments around the start of a run: a run that exists goes on without the window, loses
// no step and can be stopped from elsewhere; a run that does not exist left nothing. LOCKSTEP_KILL_MOMENTS=30 for more.
#include "core/store/run_reader.h"
#include "driven_window.h"
#include "tests/e2e/cli_runner.h"

#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>

using namespace lockstep;
using namespace lockstep::test;

namespace {

constexpr int kLatestMs = 2500; // the run trains from about 0.7 s after the key on

// Bits of the loss by step; empty: nothing recorded, or not readable.
std::vector<std::uint64_t> losses(const QString& runFolder)
{
    Result<RunReader> run = RunReader::open(runFolder.toStdString());
    if (!run)
        return {};
    const Result<SeriesData> loss = run->read({0, Quantity::Loss, 0});
    return loss ? loss->bits : std::vector<std::uint64_t>();
}

} // namespace

class GuiSigkill : public QObject
{
    Q_OBJECT

    QTemporaryDir dir_;
    std::unique_ptr<e2e::Cli> cli_;
    std::unique_ptr<XSession> session_;

private Q_SLOTS:
    void initTestCase()
    {
        if (const QString why = missingProgram(); !why.isEmpty())
            QSKIP(qPrintable(why));
        session_ = std::make_unique<XSession>();
        if (const QString why = session_->start(QSize(1600, 1000)); !why.isEmpty())
            QSKIP(qPrintable(why));
        qputenv("XDG_CONFIG_HOME", dir_.filePath(QStringLiteral("config")).toLocal8Bit());
        cli_ = std::make_unique<e2e::Cli>(e2e::realWorker());
        qputenv("LOCKSTEP_TEST_MARKER", cli_->marker()); // the window's processes are counted, too
    }

    void theWindow_data()
    {
        QTest::addColumn<int>("afterMs");
        bool given = false;
        const int moments = qEnvironmentVariableIntValue("LOCKSTEP_KILL_MOMENTS", &given);
        const quint32 seed = QRandomGenerator::system()->generate();
        qInfo("seed %u", seed);
        QRandomGenerator random(seed);
        for (int i = 0; i < (given ? moments : 3); ++i) {
            const int afterMs = random.bounded(kLatestMs);
            QTest::addRow("%d-%dms", i, afterMs) << afterMs;
        }
    }

    void theWindow()
    {
        QFETCH(int, afterMs);
        const QString project = dir_.filePath(QString::fromUtf8(QTest::currentDataTag()));
        QCOMPARE(cli_->run({"init", project, "--workload", "toy-mlp"}).exitCode, 0);
        DrivenWindow window(*session_, project);
        QVERIFY(window.open());
        window.startRun(QStringLiteral("ddp"), QStringLiteral("5000000"));
        QTest::qWait(afterMs);
        QVERIFY(window.kill());

        const std::vector<RunInfo> atDeath = runsOf(project);
        if (atDeath.empty()) { // the command line had not entered it yet; it goes on or was never started
            QTest::qWait(1500);
            if (runsOf(project).empty()) {
                QVERIFY(cli_->nothingLeft());
                return;
            }
        }
        QTRY_COMPARE_WITH_TIMEOUT(runsOf(project).front().state, RunState::Running, 20'000);
        const QString folder = project + "/runs/" + QString::fromStdString(runsOf(project).front().id);
        const std::vector<std::uint64_t> before = losses(folder);
        QTRY_VERIFY_WITH_TIMEOUT(losses(folder).size() > before.size(), 20'000);
        QCOMPARE(cli_->run({"stop", project, QString::fromStdString(runsOf(project).front().id)}).exitCode,
                 0);
        QTRY_COMPARE_WITH_TIMEOUT(runsOf(project).front().state, RunState::Stopped, 30'000);
        QVERIFY(cli_->nothingLeft());
        const std::vector<std::uint64_t> after = losses(folder);
        QVERIFY(after.size() > before.size());
        QVERIFY(std::equal(before.begin(), before.end(), after.begin()));
    }

    void cleanupTestCase() { session_.reset(); }
};

QTEST_GUILESS_MAIN(GuiSigkill)
#include "tst_gui_sigkill.moc"
