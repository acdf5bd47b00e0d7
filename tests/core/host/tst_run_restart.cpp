// A run that loses ranks goes on as another segment of itself; the fake worker stands for the ranks. It begins at step 0
// in every segment, as if it had trained up to the checkpoint before: what it repeats must not be recorded twice.
#include "core/config/run_extras.h"
#include "core/host/process_state.h"
#include "core/host/run_control.h"
#include "core/host/run_controller.h"
#include "core/store/run_reader.h"
#include "tests/support/fake_loss.h"

#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <memory>

using namespace lockstep;

namespace {

RunConfig ddp(int world, std::int64_t steps, std::map<std::string, std::string> orders)
{
    RunConfig config;
    config.mode = "ddp";
    config.world = world;
    config.steps = steps;
    config.workloadOptions = std::move(orders);
    config.workloadOptions["fake.step_us"] = "2000";
    return config;
}

} // namespace

class TestRunRestart : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;
    std::unique_ptr<RunController> run_;

    void start(const RunConfig& config, bool armed, std::int64_t checkpoint = 10)
    {
        RunOptions options;
        options.projectFolder = folder_->filePath("p").toStdString();
        options.config = config;
        options.workerPath = LOCKSTEP_FAKE_WORKER;
        options.reportGraceMs = 300;
        options.killGraceMs = 300;
        options.stopGraceMs = 2000;
        options.restart.armed = armed;
        options.restart.most = 2;
        run_ = std::make_unique<RunController>(options);
        QVERIFY(run_->start().ok());
        if (checkpoint < 0)
            return;
        const QString saved = QString::fromStdString(run_->info().folder) + "/checkpoints";
        QVERIFY(QDir().mkpath(saved));
        QFile file(QStringLiteral("%1/step_%2.pt").arg(saved).arg(checkpoint, 8, 10, QLatin1Char('0')));
        QVERIFY(file.open(QIODevice::WriteOnly));
    }
    void waitForEnd()
    {
        QSignalSpy finished(run_.get(), &RunController::finished);
        QVERIFY(run_->info().state != RunState::Running || finished.wait(30000));
        QCOMPARE(processesOfRun(run_->info().folder).size(), std::size_t(0));
    }
    std::vector<SegmentInfo> segments() const
    {
        Result<RunReader> reader = RunReader::open(run_->info().folder);
        Result<std::vector<SegmentInfo>> segments = reader->segments();
        return std::move(segments).value();
    }
    std::string file(const std::string& name) const
    {
        QFile f(QString::fromStdString(run_->info().folder + "/" + name));
        return f.open(QIODevice::ReadOnly) ? f.readAll().toStdString() : std::string();
    }

private Q_SLOTS:
    void init()
    {
        folder_ = std::make_unique<QTemporaryDir>();
        QVERIFY(ProjectStore::create(folder_->filePath("p").toStdString(), "toy-mlp").ok());
    }
    void cleanup() { run_.reset(); }

    void aLostRankIsOneSegmentWithFewerRanks()
    {
        start(ddp(2, 60, {{"fake.rank1", "kill@30"}, {"fake.rank0", "echo@31"}}), true);
        waitForEnd();
        // Rank 0 echoes again in its second life, so that life fails too; the third runs out of restarts.
        QCOMPARE(run_->info().state, RunState::Failed);
        QCOMPARE(onLossOf(run_->info().configJson), std::string("survivors")); // so that it can be repeated
        const std::vector<SegmentInfo> parts = segments();
        QCOMPARE(parts.size(), std::size_t(3));
        QCOMPARE(parts[0].world, 2);
        QCOMPARE(parts[1].world, 1);
        QCOMPARE(parts[1].firstStep, 11);
        QCOMPARE(parts[1].reason, std::string("degrade"));
        QCOMPARE(parts[2].reason, std::string("restart"));
    }

    void theCurveGoesOnWithoutAGapOrARepeat()
    {
        start(ddp(2, 60, {{"fake.rank1", "kill@30"}}), true);
        waitForEnd();
        QCOMPARE(run_->info().state, RunState::Finished);
        QCOMPARE(run_->info().lastStep, 60);
        QCOMPARE(run_->info().exitCodes, std::vector{0}); // of the last segment
        QVERIFY(run_->info().firstFailure.sentence.empty());
        Result<RunReader> reader = RunReader::open(run_->info().folder);
        QVERIFY(reader.ok());
        const Result<SeriesData> loss = reader->read({0, Quantity::Loss, 0});
        QCOMPARE(loss->size(), std::size_t(60));
        for (std::size_t i = 0; i < loss->size(); ++i) {
            QCOMPARE(loss->steps[i], std::int64_t(i) + 1);
            QCOMPARE(loss->value(i), fakeLoss(0, std::int64_t(i) + 1));
        }
        // Rank 1 has what it did before the checkpoint, and nothing after it.
        QCOMPARE(reader->read({1, Quantity::Loss, 0})->steps.back(), 10);
        std::vector<EventRecord> events = *reader->events();
        std::stable_sort(events.begin(), events.end(),
                         [](const auto& a, const auto& b) { return a.monotonicNs < b.monotonicNs; });
        std::string kinds;
        for (const EventRecord& event : events)
            if (event.kind == "verdict" || event.kind == "segment" || event.kind == "launch")
                kinds += event.kind + " ";
        QVERIFY2(kinds == "launch verdict launch segment ", kinds.c_str());
        const RunConfig second = *runConfigFromJson(file("config.segment2.json"));
        QCOMPARE(second.mode, std::string("single"));
        QVERIFY(second.resume.ends_with("step_00000010.pt"));
        QCOMPARE(runConfigFromJson(file("config.json"))->world, 2);
    }

    void withoutTheSwitchOrACheckpointTheFailureStands_data()
    {
        QTest::addColumn<bool>("armed");
        QTest::addColumn<int>("checkpoint");
        QTest::newRow("not armed") << false << 10;
        QTest::newRow("no checkpoint") << true << -1;
    }
    void withoutTheSwitchOrACheckpointTheFailureStands()
    {
        QFETCH(bool, armed);
        QFETCH(int, checkpoint);
        start(ddp(2, 60, {{"fake.rank1", "kill@30"}}), armed, checkpoint);
        waitForEnd();
        QCOMPARE(run_->info().state, RunState::Failed);
        QCOMPARE(run_->info().firstFailure.rank, 1);
        QCOMPARE(segments().size(), std::size_t(1));
    }

    void asManyRanksGoOnAsDivideTheRun()
    {
        start(ddp(4, 60, {{"fake.rank3", "kill@30"}}), true);
        waitForEnd();
        QCOMPARE(run_->info().state, RunState::Finished);
        QCOMPARE(segments().at(1).world, 2); // three are left, two of them divide four
    }

    void aHealthyRunIsSwitchedDownAndUpAgain()
    {
        start(ddp(2, 100000, {}), false, -1);
        QVERIFY(!run_->requestSwitch(3).ok());
        QTRY_VERIFY_WITH_TIMEOUT(run_->committedStep() > 5, 20000);
        QVERIFY(run_->requestSwitch(1).ok());
        QTRY_VERIFY_WITH_TIMEOUT(segments().size() == 2 && run_->committedStep() > 0, 20000);
        const std::int64_t second = segments().at(1).firstStep;
        QTRY_VERIFY_WITH_TIMEOUT(run_->committedStep() > second + 5, 20000);
        // As another process does it.
        QVERIFY(switchRunOf(run_->info().folder, 2).ok());
        QTRY_COMPARE_WITH_TIMEOUT(segments().size(), std::size_t(3), 20000);
        run_->requestStop("the test");
        waitForEnd();
        QCOMPARE(run_->info().state, RunState::Stopped);
        const std::vector<SegmentInfo> parts = segments();
        QCOMPARE(parts.size(), std::size_t(3));
        QCOMPARE(parts[1].world, 1);
        QCOMPARE(parts[1].reason, std::string("degrade"));
        QCOMPARE(parts[2].world, 2);
        QCOMPARE(parts[2].reason, std::string("restore"));
        QVERIFY(!switchRunOf(run_->info().folder, 1).ok()); // nobody is there any more
    }

    void aRankWithoutASignOfLifeIsEndedAndNamed()
    {
        RunOptions options;
        options.projectFolder = folder_->filePath("p").toStdString();
        options.config = ddp(2, 100000, {{"fake.rank1", "hang@30"}});
        options.workerPath = LOCKSTEP_FAKE_WORKER;
        options.reportGraceMs = 300;
        options.killGraceMs = 300;
        options.silenceMs = 1500;
        run_ = std::make_unique<RunController>(options);
        QVERIFY(run_->start().ok());
        waitForEnd();
        QCOMPARE(run_->info().state, RunState::Failed);
        QCOMPARE(run_->info().firstFailure.rank, 1);
        QVERIFY(run_->info().firstFailure.step >= 30); // the other rank does not wait for it, as real ones do
    }

    void aStopDuringASwitchIsAStop()
    {
        start(ddp(2, 100000, {{"fake.all", "ignoreterm@2"}}), false, -1);
        QTRY_VERIFY_WITH_TIMEOUT(run_->committedStep() > 5, 20000);
        QVERIFY(run_->requestSwitch(1).ok());
        run_->requestStop("the test");
        waitForEnd();
        QCOMPARE(run_->info().state, RunState::Stopped);
        QCOMPARE(segments().size(), std::size_t(1));
    }
};

QTEST_GUILESS_MAIN(TestRunRestart)
#include "tst_run_restart.moc"
