// What two runs recorded of their samples and generators, read back from real run files.
#include "core/gates/data_judge.h"
#include "core/gates/recorded_orders.h"
#include "core/gates/sample_agreement.h"
#include "core/store/run_writer.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace lockstep;

namespace {

constexpr int kSteps = 6; // of two epochs with 3 steps each
using Ids = std::vector<std::int64_t>;

struct Dealt {
    int world = 1;
    bool drawsInSteps = false; // else only the loader draws, when an epoch begins
    bool hashesOnly = false;
    bool evaluates = false;     // after step 4, on a set of 7
    bool countsPadding = false; // then 4 samples on each of two ranks
    Ids (*ids)(int rank, int step) = nullptr;
};

// 12 samples, 4 per step.
Ids whole(int, int step)
{
    const std::int64_t first = (step - 1) % 3 * 4;
    return {first, first + 1, first + 2, first + 3};
}
Ids half(int rank, int step)
{
    const std::int64_t first = (step - 1) % 3 * 4 + rank; // another order within the step
    return {first + 2, first};
}
std::vector<std::pair<Quantity, std::uint64_t>> evaluation(int rank, bool countsPadding)
{
    return {{Quantity::EvalSamples, countsPadding ? 8 : 7},
            {Quantity::EvalSamplesLocal, countsPadding || rank == 0 ? 4 : 3},
            {Quantity::EvalSetSize, 7}};
}
Ids halfLate(int rank, int step)
{
    return half(rank, step < 3 ? step : step + 1);
}
Ids padded(int rank, int step)
{
    Ids ids = half(rank, step);
    if (rank == 1 && step % 3 == 0)
        ids.push_back(0);
    return ids;
}

} // namespace

class TestRecordedSamples : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theSamplesOfAStepAreComparedAsASet_data();
    void theSamplesOfAStepAreComparedAsASet();
    void withoutIdsTheContentsAreCompared();
    void nothingRecordedIsNoAgreement();
    void onlyDrawsInStepsCountAsDrawn_data();
    void onlyDrawsInStepsCountAsDrawn();
    void anEvaluationCountsEverySampleOnce();

private:
    RunReader record(const Dealt& dealt)
    {
        const std::string folder = folder_.filePath(QString::number(++runs_)).toStdString();
        Result<RunWriter> writer = RunWriter::create(folder);
        Q_ASSERT(writer.ok());
        bool ok = true;
        for (int rank = 0; rank < dealt.world; ++rank)
            for (int step = 0; step <= kSteps; ++step) {
                const int state = dealt.drawsInSteps ? step : (step + 2) / 3;
                StepRecord record{rank, step, {{Quantity::RngCpu, 0, std::uint64_t(state)}}};
                if (dealt.evaluates && step == 4)
                    for (const auto& [quantity, value] : evaluation(rank, dealt.countsPadding))
                        record.values.push_back({quantity, 0, value});
                ok = ok && writer->append(record).ok();
                if (step == 0 || !dealt.ids)
                    continue;
                SamplesRecord samples{rank, step, 0, (step - 1) / 3, dealt.ids(rank, step), {}};
                if (dealt.hashesOnly) {
                    samples.hashes.assign(samples.ids.begin(), samples.ids.end());
                    samples.ids.clear();
                }
                ok = ok && writer->append(samples).ok();
            }
        for (int epoch = 0; epoch < 2; ++epoch)
            ok = ok && writer
                           ->append(EventRecord{.rank = 0,
                                                .kind = "epoch_end",
                                                .detail = "{\"epoch\":" + std::to_string(epoch) + "}"})
                           .ok();
        ok = ok && writer->finish().ok();
        Q_ASSERT(ok);
        Result<RunReader> reader = RunReader::open(folder);
        Q_ASSERT(reader.ok());
        return std::move(reader).value();
    }

    QTemporaryDir folder_;
    int runs_ = 0;
};

void TestRecordedSamples::theSamplesOfAStepAreComparedAsASet_data()
{
    QTest::addColumn<int>("ddp");
    QTest::addColumn<int>("differing");
    QTest::addColumn<int>("padded");
    QTest::newRow("equal") << 0 << 0 << 0;
    QTest::newRow("late") << 1 << 4 << 0;
    QTest::newRow("padded") << 2 << 0 << 2;
}

void TestRecordedSamples::theSamplesOfAStepAreComparedAsASet()
{
    QFETCH(int, ddp);
    QFETCH(int, differing);
    QFETCH(int, padded);
    RunReader single = record({.ids = whole});
    RunReader ranks = record({.world = 2, .ids = ddp == 0 ? half : ddp == 1 ? halfLate : ::padded});
    const auto found = compareSamples(single, ranks, 2, kSteps);
    QVERIFY(found.ok() && found->has_value());
    const SampleAgreement& sum = **found;
    QCOMPARE(sum.steps, std::int64_t(kSteps));
    QCOMPARE(sum.differing, std::int64_t(differing));
    QCOMPARE(sum.padded, std::int64_t(padded));
    QCOMPARE(sum.equal(), differing == 0);
    QVERIFY(!sum.byContent);
    if (differing > 0) {
        QCOMPARE(sum.firstStep, std::int64_t(3));
        QCOMPARE(sum.onlySingle, (Ids{8, 9, 10, 11}));
        QCOMPARE(sum.onlyDdp, (Ids{0, 1, 2, 3}));
    }
}

void TestRecordedSamples::withoutIdsTheContentsAreCompared()
{
    RunReader single = record({.ids = whole});
    RunReader hashes = record({.hashesOnly = true, .ids = whole});
    RunReader ranks = record({.world = 2, .hashesOnly = true, .ids = halfLate});
    const auto found = compareSamples(hashes, ranks, 2, kSteps);
    QVERIFY(found.ok() && found->has_value());
    QVERIFY((*found)->byContent);
    QCOMPARE((*found)->firstStep, std::int64_t(3));
    QVERIFY(!compareSamples(single, ranks, 2, kSteps)->has_value()); // ids here, contents there
}

void TestRecordedSamples::nothingRecordedIsNoAgreement()
{
    RunReader single = record({.ids = whole});
    RunReader silent = record({.world = 2});
    const auto found = compareSamples(single, silent, 2, kSteps);
    QVERIFY(found.ok());
    QVERIFY(!found->has_value());
}

void TestRecordedSamples::onlyDrawsInStepsCountAsDrawn_data()
{
    QTest::addColumn<bool>("drawsInSteps");
    QTest::addColumn<int>("workers");
    QTest::addColumn<bool>("script");
    QTest::addColumn<bool>("used");
    QTest::newRow("loader-only") << false << 0 << true << false;
    QTest::newRow("in-steps") << true << 0 << true << true;
    QTest::newRow("worker-processes") << false << 2 << true << true; // seeded from the ranks' generators
    QTest::newRow("engine") << false << 0 << false << true;
}

void TestRecordedSamples::onlyDrawsInStepsCountAsDrawn()
{
    QFETCH(bool, drawsInSteps);
    QFETCH(int, workers);
    QFETCH(bool, script);
    QFETCH(bool, used);
    RunReader run = record({.world = 2, .drawsInSteps = drawsInSteps, .ids = half});
    DataPlan plan;
    plan.datasetSize = 12;
    plan.world = 2;
    plan.batch = 2;
    plan.workers = workers;
    plan.script = script;
    const auto source = recordedOrders(run, "run", plan);
    QVERIFY2(source.ok(), source.ok() ? "" : source.error().sentence().c_str());
    QCOMPARE((*source)->facts().epochs, std::int64_t(2));
    QCOMPARE((*source)->facts().randomUsed, used);
}

void TestRecordedSamples::anEvaluationCountsEverySampleOnce()
{
    DataPlan plan;
    plan.datasetSize = 12;
    plan.world = 2;
    plan.batch = 2;
    plan.samplerSeedKnown = false;
    for (const auto& [evaluates, countsPadding] : {std::pair(false, false), {true, false}, {true, true}}) {
        RunReader run =
            record({.world = 2, .evaluates = evaluates, .countsPadding = countsPadding, .ids = half});
        const auto source = recordedOrders(run, "run", plan);
        QVERIFY(source.ok());
        const auto verdict = judgeData(**source, plan);
        QVERIFY(verdict.ok());
        const auto check = std::find_if(verdict->checks.begin(), verdict->checks.end(),
                                        [](const GateCheck& c) { return c.id == "data.evaluation"; });
        const auto found = std::find_if(verdict->findings.begin(), verdict->findings.end(),
                                        [](const DataFinding& f) { return f.cause == "F9"; });
        QCOMPARE(check != verdict->checks.end(), evaluates);
        QCOMPARE(found != verdict->findings.end(), countsPadding);
        if (!evaluates)
            continue;
        QCOMPARE(check->verdict, std::string(countsPadding ? "fail" : "pass"));
        QCOMPARE(check->value, std::string(countsPadding ? "8" : "7"));
        QCOMPARE(check->limit, std::string("7"));
        if (!countsPadding)
            continue;
        QCOMPARE(check->cause, std::string("F9"));
        QCOMPARE(found->step, std::int64_t(4));
        QCOMPARE(found->rank, 1);
    }
}

QTEST_GUILESS_MAIN(TestRecordedSamples)
#include "tst_recorded_samples.moc"
