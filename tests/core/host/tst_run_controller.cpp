// Whole runs with real processes: the fake worker does on order what real ranks do by accident.
#include "core/host/run_control.h"
#include "core/host/run_controller.h"
#include "core/store/run_reader.h"
#include "tests/support/fake_loss.h"

#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <fmt/format.h>

#include <csignal>
#include <memory>

using namespace lockstep;

namespace {

RunConfig ddp(int world, std::int64_t steps, std::map<std::string, std::string> orders = {})
{
    RunConfig config;
    config.mode = world == 1 ? "single" : "ddp";
    config.world = world;
    config.steps = steps;
    config.workloadOptions = std::move(orders);
    return config;
}

// Processes whose environment names this run folder: what a run may have left behind.
QStringList processesOf(const std::string& runFolder)
{
    const QByteArray marker = QByteArray("LOCKSTEP_RUN_DIR=") + QByteArray::fromStdString(runFolder);
    QStringList found;
    for (const QString& pid :
         QDir(QStringLiteral("/proc")).entryList({QStringLiteral("[0-9]*")}, QDir::Dirs)) {
        QFile environment(QStringLiteral("/proc/%1/environ").arg(pid));
        if (environment.open(QIODevice::ReadOnly) && environment.readAll().split('\0').contains(marker))
            found << pid;
    }
    return found;
}

} // namespace

class TestRunController : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;
    std::string project_;

    RunOptions options(const RunConfig& config) const
    {
        RunOptions options;
        options.projectFolder = project_;
        options.config = config;
        options.workerPath = LOCKSTEP_FAKE_WORKER;
        options.reportGraceMs = 300;
        options.killGraceMs = 300;
        options.stopGraceMs = 500;
        return options;
    }

    static bool waitForEnd(RunController& run)
    {
        QSignalSpy finished(&run, &RunController::finished);
        return run.info().state != RunState::Running || finished.wait(30000);
    }

    RunInfo finish(const RunConfig& config) const
    {
        RunController run(options(config));
        if (const Status started = run.start(); !started)
            qWarning("%s", started.error().sentence().c_str());
        if (!waitForEnd(run))
            qWarning("the run did not end");
        if (const QStringList left = processesOf(run.info().folder); !left.isEmpty())
            qWarning("processes left: %s", qPrintable(left.join(QLatin1Char(' '))));
        return run.info();
    }

    static RunReader reader(const RunInfo& info)
    {
        Result<RunReader> reader = RunReader::open(info.folder);
        if (!reader)
            qFatal("%s", reader.error().sentence().c_str());
        return std::move(reader).value();
    }

private Q_SLOTS:
    void init()
    {
        folder_ = std::make_unique<QTemporaryDir>();
        project_ = folder_->filePath(QStringLiteral("p")).toStdString();
        QVERIFY(ProjectStore::create(project_, "toy-mlp").ok());
    }

    void aRunOfTwoRanksIsRecordedCompletely()
    {
        const RunInfo info = finish(ddp(2, 300));
        QCOMPARE(info.state, RunState::Finished);
        QCOMPARE(info.exitCodes, (std::vector{0, 0}));
        QCOMPARE(info.id, std::string("ddp-w2-01"));
        QCOMPARE(info.lastStep, 300);
        QCOMPARE(info.lastLoss, fakeLoss(0, 300));
        QVERIFY(info.endedUnixMs >= info.startedUnixMs);
        QVERIFY(info.environmentJson.find("fake") != std::string::npos);
        RunReader run = reader(info);
        for (int rank : {0, 1}) {
            const Result<SeriesData> loss = run.read({rank, Quantity::Loss, 0});
            QVERIFY(loss.ok());
            QCOMPARE(loss->size(), std::size_t(300));
            for (std::size_t i = 0; i < loss->size(); ++i) {
                QCOMPARE(loss->steps[i], std::int64_t(i) + 1);
                QCOMPARE(loss->value(i), fakeLoss(rank, std::int64_t(i) + 1));
            }
            const Result<SeriesData> parameters = run.read({rank, Quantity::ParamFingerprint, 0});
            QCOMPARE(parameters->steps.front(), 0);
        }
        const Result<std::vector<SegmentInfo>> segments = run.segments();
        QCOMPARE(segments->size(), std::size_t(1));
        QCOMPARE(segments->front().world, 2);
        QVERIFY(!QFile::exists(QString::fromStdString(info.folder + "/host.json")));
    }

    void theProjectKnowsTheRunAfterwards()
    {
        const RunInfo info = finish(ddp(1, 5));
        Result<ProjectStore> project = ProjectStore::open(project_);
        const Result<RunInfo> found = project->run(info.id);
        QVERIFY(found.ok());
        QCOMPARE(found->state, RunState::Finished);
        QCOMPARE(found->lastStep, 5);
        QCOMPARE(found->exitCodes, std::vector{0});
    }

    void theRankThatBreaksIsNamed_data()
    {
        QTest::addColumn<QByteArray>("rank0");
        QTest::addColumn<QByteArray>("rank1");
        QTest::addColumn<int>("culprit");
        QTest::addColumn<int>("step");
        QTest::addColumn<QByteArray>("word");
        QTest::addColumn<int>("exit0");
        QTest::addColumn<int>("exit1");
        using B = QByteArray;
        QTest::newRow("killed") << B("echo@8") << B("kill@7") << 1 << 7 << B("SIGKILL") << 1 << 137;
        QTest::newRow("crashed") << B("echo@8") << B("crash@7") << 1 << 7 << B("SIGSEGV") << 1 << 139;
        QTest::newRow("error with reason")
            << B("echo@8") << B("error@7") << 1 << 7 << B("cannot go on") << 1 << 1;
        QTest::newRow("exit without reason")
            << B("echo@8") << B("exit:9@7") << 1 << 7 << B("exit code 9") << 1 << 9;
        QTest::newRow("error file") << B("echo@8") << B("errorfile@7") << 1 << 7 << B("loader is empty") << 1
                                    << 1;
        QTest::newRow("hang") << B("echo@8") << B("hang@7") << 1 << 7 << B("stopped answering") << 1 << 137;
        QTest::newRow("rank 0 killed") << B("kill@7") << B("echo@8") << 0 << 7 << B("SIGKILL") << 137 << 1;
        QTest::newRow("broken stream")
            << B("echo@20") << B("garbage@7") << 1 << 7 << B("cannot be used") << 1 << 137;
        QTest::newRow("step goes back")
            << B("echo@20") << B("back@7") << 1 << 7 << B("cannot be used") << 1 << 137;
        QTest::newRow("foreign record")
            << B("echo@20") << B("foreign@7") << 1 << 7 << B("record of rank 2") << 1 << 137;
    }
    void theRankThatBreaksIsNamed()
    {
        QFETCH(QByteArray, rank0);
        QFETCH(QByteArray, rank1);
        QFETCH(int, culprit);
        QFETCH(int, step);
        QFETCH(QByteArray, word);
        QFETCH(int, exit0);
        QFETCH(int, exit1);
        const RunInfo info = finish(ddp(2, 1000,
                                        {{"fake.rank0", rank0.toStdString()},
                                         {"fake.rank1", rank1.toStdString()},
                                         {"fake.step_us", "2000"}}));
        QCOMPARE(info.state, RunState::Failed);
        QCOMPARE(info.firstFailure.rank, culprit);
        QCOMPARE(info.firstFailure.step, step);
        QVERIFY2(info.firstFailure.sentence.find(word.toStdString()) != std::string::npos,
                 info.firstFailure.sentence.c_str());
        QVERIFY(processesOf(info.folder).isEmpty());
        // Fake ranks do not wait for each other, so a survivor may still be on its way to its own order.
        if (info.exitCodes[std::size_t(1 - culprit)] < 128)
            QCOMPARE(info.exitCodes, (std::vector{exit0, exit1}));
        RunReader run = reader(info);
        const Result<SeriesData> loss = run.read({culprit, Quantity::Loss, 0});
        QVERIFY(loss->size() >= 5); // every step before the end is there
    }

    void aRankThatLeavesAChildBehindIsCleanedUp()
    {
        const RunInfo info = finish(ddp(1, 20, {{"fake.rank0", "child@3"}}));
        QCOMPARE(info.state, RunState::Finished);
        QTRY_VERIFY(processesOf(info.folder).isEmpty());
    }

    void aWorkerThatNeverGreetsIsNoSuccess_data()
    {
        QTest::addColumn<QByteArray>("order");
        QTest::newRow("wrong token") << QByteArray("stranger@0");
        QTest::newRow("silent end") << QByteArray("silent@3");
    }
    void aWorkerThatNeverGreetsIsNoSuccess()
    {
        QFETCH(QByteArray, order);
        const RunInfo info = finish(ddp(1, 10, {{"fake.rank0", order.toStdString()}}));
        QCOMPARE(info.state, RunState::Failed);
        QCOMPARE(info.firstFailure.rank, 0);
    }

    void anUnusableConfigurationIsTheEnvironmentsFault()
    {
        RunController run(options(ddp(2, 10, {{"fake.all", "unusable@0"}})));
        QVERIFY(run.start());
        QVERIFY(waitForEnd(run));
        QCOMPARE(run.info().state, RunState::Failed);
        QCOMPARE(run.failureKind(), ErrorKind::Environment);
        QVERIFY(run.info().firstFailure.sentence.starts_with("The fault Q9 is unknown"));
    }

    void aWorkerThatCannotBeStartedFails()
    {
        RunOptions wanted = options(ddp(2, 10));
        wanted.workerPath = "/nonexistent/worker";
        RunController run(wanted);
        QVERIFY(run.start());
        QVERIFY(waitForEnd(run));
        QCOMPARE(run.info().state, RunState::Failed);
        QCOMPARE(run.failureKind(), ErrorKind::Environment);
        QCOMPARE(run.info().exitCodes, (std::vector{127, 127}));
    }

    void aStopRequestEndsWithACheckpoint()
    {
        RunController run(options(ddp(2, 1000000, {{"fake.step_us", "1000"}})));
        QSignalSpy progress(&run, &RunController::progress);
        QVERIFY(run.start());
        QVERIFY(progress.wait(20000));
        run.requestStop("the test");
        QVERIFY(waitForEnd(run));
        const RunInfo info = run.info();
        QCOMPARE(info.state, RunState::Stopped);
        QCOMPARE(info.exitCodes, (std::vector{143, 143}));
        Result<ProjectStore> project = ProjectStore::open(project_);
        const Result<std::vector<CheckpointSeen>> checkpoints = project->checkpoints();
        QVERIFY(checkpoints.ok());
        QCOMPARE(checkpoints->size(), std::size_t(1));
        QCOMPARE(checkpoints->front().step, info.lastStep);
        QVERIFY(QFile::exists(QString::fromStdString(checkpoints->front().path)));
        const Result<std::vector<EventRecord>> events = reader(info).events();
        QVERIFY(std::any_of(events->begin(), events->end(),
                            [](const EventRecord& e) { return e.kind == "stop"; }));
    }

    void aSecondStopRequestKills()
    {
        RunOptions wanted =
            options(ddp(2, 1000000, {{"fake.step_us", "1000"}, {"fake.rank1", "ignoreterm@1"}}));
        wanted.stopGraceMs = 600000;
        RunController run(wanted);
        QSignalSpy progress(&run, &RunController::progress);
        QVERIFY(run.start());
        QVERIFY(progress.wait(20000));
        run.requestStop("the test");
        run.requestStop("the test again");
        QVERIFY(waitForEnd(run));
        QCOMPARE(run.info().state, RunState::Stopped);
    }

    void aRankDeafToStopIsKilledAndNamed()
    {
        RunController run(
            options(ddp(2, 1000000, {{"fake.step_us", "1000"}, {"fake.rank1", "ignoreterm@1"}})));
        QSignalSpy progress(&run, &RunController::progress);
        QVERIFY(run.start());
        QVERIFY(progress.wait(20000));
        run.requestStop("the test");
        QVERIFY(waitForEnd(run));
        QCOMPARE(run.info().state, RunState::Stopped);
        QCOMPARE(run.info().firstFailure.rank, 1);
        QCOMPARE(run.info().exitCodes, (std::vector{143, 137}));
    }

    void sigtermToOneRankStopsAll()
    {
        const RunInfo info = finish(ddp(2, 1000000, {{"fake.step_us", "1000"}, {"fake.rank1", "stop@9"}}));
        QCOMPARE(info.state, RunState::Stopped);
        QCOMPARE(info.exitCodes, (std::vector{143, 143}));
    }

    void recordOffStillEndsWell()
    {
        RunConfig config = ddp(2, 10);
        config.record = "off";
        QCOMPARE(finish(config).state, RunState::Finished);
    }

    void aPortInUseLeavesNoRunBehind()
    {
        const Result<ListenSocket> taken = ListenSocket::open();
        RunOptions wanted = options(ddp(2, 10));
        wanted.masterPort = taken->port();
        RunController run(wanted);
        const Status started = run.start();
        QVERIFY(!started);
        QCOMPARE(started.error().kind, ErrorKind::Busy);
        Result<ProjectStore> project = ProjectStore::open(project_);
        QVERIFY(project->runs()->empty());
    }

    void aFolderThatIsNoProjectIsRefused()
    {
        RunOptions wanted = options(ddp(1, 1));
        wanted.projectFolder = folder_->path().toStdString();
        RunController run(wanted);
        const Status started = run.start();
        QVERIFY(!started);
        QCOMPARE(started.error().kind, ErrorKind::NotFound);
    }

    void theHostOfAFinishedRunCannotBeStopped()
    {
        const RunInfo info = finish(ddp(1, 3));
        const Status stopped = stopRunOf(info.folder, 1);
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().kind, ErrorKind::NotFound);
    }

    void aReusedPidIsNeverSignalled()
    {
        const std::string folder = folder_->path().toStdString();
        QFile file(QString::fromStdString(folder + "/host.json"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        // This very process, but with the start time of another one: a SIGTERM would end the test.
        file.write(QByteArray::fromStdString(fmt::format(R"({{"pid":{},"start":"1"}})", getpid())));
        file.close();
        QCOMPARE(stopRunOf(folder, 1).error().kind, ErrorKind::NotFound);
    }
};

QTEST_GUILESS_MAIN(TestRunController)
#include "tst_run_controller.moc"
