#include "core/gates/timeout_advice.h"

#include "core/store/run_writer.h"

#include <QTemporaryDir>
#include <QTest>

#include <fmt/format.h>

using namespace lockstep;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// A recorded run of two ranks whose steps take what `secondsOf` says.
class Recorded
{
public:
    explicit Recorded(std::int64_t checkpointEvery = 0)
    {
        Result<RunWriter> writer = RunWriter::create(folder());
        if (!writer)
            qFatal("%s", writer.error().sentence().c_str());
        writer_ = std::make_unique<RunWriter>(std::move(writer).value());
        RunConfig config;
        config.mode = "ddp";
        config.world = 2;
        config.checkpointEvery = checkpointEvery;
        check(writer_->setProperty("config", toJson(config)));
        check(writer_->beginSegment(0, 2, "start"));
    }
    std::string folder() const { return folder_.path().toStdString(); }

    void event(int rank, const char* kind, std::int64_t ns, std::int64_t step = 0)
    {
        check(writer_->append(EventRecord{rank, step, kind, ns, "{}"}));
    }
    template<typename Seconds>
    void steps(std::int64_t count, Seconds secondsOf)
    {
        for (std::int64_t step = 1; step <= count; ++step)
            for (int rank = 0; rank < 2; ++rank)
                check(writer_->append(
                    StepRecord{rank, step, {{Quantity::TimeStep, 0, bitsOf(secondsOf(rank, step))}}}));
    }
    TimeoutAdvice advice()
    {
        check(writer_->finish());
        Result<RunReader> reader = RunReader::open(folder());
        if (!reader)
            qFatal("%s", reader.error().sentence().c_str());
        Result<TimeoutAdvice> advice = adviseTimeout(*reader);
        if (!advice)
            qFatal("%s", advice.error().sentence().c_str());
        return std::move(advice).value();
    }
    RunWriter& writer() { return *writer_; }

private:
    static void check(const Status& status)
    {
        if (!status)
            qFatal("%s", status.error().sentence().c_str());
    }
    QTemporaryDir folder_;
    std::unique_ptr<RunWriter> writer_;
};

} // namespace

class TestTimeoutAdvice : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void roundsUpToRoundNumbers()
    {
        QCOMPARE(roundedUp(1), 1.0);
        QCOMPARE(roundedUp(1.01), 1.5);
        QCOMPARE(roundedUp(6.9), 8.0);
        QCOMPARE(roundedUp(16.7), 20.0);
        QCOMPARE(roundedUp(81), 100.0);
        QCOMPARE(roundedUp(0), 0.0);
        QVERIFY(std::abs(roundedUp(0.031) - 0.04) < 1e-12);
    }

    void theLongestHealthyPauseCountsFiveTimes()
    {
        Recorded run(50);
        run.event(-1, "launch", 0);
        run.event(0, "join", kSecond);
        run.event(1, "join", 3 * kSecond);
        run.event(0, "first_step", 4 * kSecond);
        run.event(1, "first_step", 5 * kSecond);
        run.event(0, "checkpoint", 9 * kSecond, 50);
        run.steps(100, [](int rank, std::int64_t step) {
            if (step == 1)
                return 0.9;
            if (step == 51)
                return 4.0; // waits for the checkpoint of step 50
            return step == 70 && rank == 1 ? 0.2 : 0.1;
        });
        const TimeoutAdvice advice = run.advice();
        QCOMPARE(advice.world, 2);
        QCOMPARE(advice.steady.count,
                 2 * (100 - 2)); // without the first step and the one after the checkpoint
        QCOMPARE(advice.steady.p50, 0.1);
        QCOMPARE(advice.steady.max, 0.2);
        QCOMPARE(advice.steady.maxStep, 70);
        QCOMPARE(advice.steady.maxRank, 1);
        QCOMPARE(advice.firstStep, 0.9);
        QCOMPARE(advice.checkpointPause, 4.0);
        QCOMPARE(advice.longestPause, 4.0);
        QCOMPARE(advice.longestPauseKind, std::string("a checkpoint"));
        QCOMPARE(advice.longestPauseStep, 50);
        QCOMPARE(advice.skewPerRank, 1.0);
        QCOMPARE(advice.pauseBudget, 5 * 4.0 + 2 * 1.0);
        QCOMPARE(advice.restart, 5.0);
        QCOMPARE(advice.lostSteps, 50 * 0.1);
        QCOMPARE(advice.recovery, 10.0);
        QCOMPARE(advice.timeout, 30.0); // 22, rounded up
        QCOMPARE(advice.heartbeat, 2.0);
        QCOMPARE(advice.overTimeout, 0);
        QCOMPARE(advice.terms.back().value, std::string("2 s"));
    }

    void aRecoveryThatTakesLongerDecides()
    {
        Recorded run(1000);
        run.event(-1, "launch", 0);
        run.event(0, "first_step", 20 * kSecond);
        run.steps(200, [](int, std::int64_t) { return 0.05; });
        const TimeoutAdvice advice = run.advice();
        QCOMPARE(advice.recovery, 20.0 + 1000 * 0.05);
        QCOMPARE(advice.timeout, 80.0); // 70, rounded up
    }

    void withoutCheckpointsAllStepsAreLost()
    {
        Recorded run;
        run.steps(100, [](int, std::int64_t) { return 0.1; });
        const TimeoutAdvice advice = run.advice();
        QCOMPARE(advice.lostStepCount, 100);
        QCOMPARE(advice.checkpoints, 0);
        QVERIFY(std::abs(advice.recovery - 10) < 1e-9);
    }

    void aRunWithoutStepsGivesNoAdvice()
    {
        Recorded run;
        QVERIFY(run.writer().finish().ok());
        Result<RunReader> reader = RunReader::open(run.folder());
        QVERIFY(reader.ok());
        const Result<TimeoutAdvice> advice = adviseTimeout(*reader);
        QVERIFY(!advice.ok());
        QVERIFY(!advice.error().fix.empty());
    }
};

QTEST_GUILESS_MAIN(TestTimeoutAdvice)
#include "tst_timeout_advice.moc"
