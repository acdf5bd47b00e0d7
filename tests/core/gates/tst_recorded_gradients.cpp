// Phase 2 of a user's own script, judged from run files as the probe writes them.
#include "core/base/hexfloat.h"
#include "core/gates/gradients_recorded.h"
#include "core/store/run_writer.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <deque>

using namespace lockstep;

namespace {

constexpr int kSteps = 12;
using Role = GradientsRun::Role;

struct Recorded {
    int world = 1;
    double noise = 0;  // relative, another at every step: what another order of sums does
    double factor = 1; // on the gradient, as a wrong reduction has it
    int otherSamplesFrom = kSteps + 1;
    int aloneFrom = kSteps + 1; // rank 1 has other parameters from this step on
    int withoutCollective = -1; // no collective in this step
    std::uint64_t start = 7;    // fingerprint of step 0
    bool statistics = false;    // a buffer that changes
    double lossOff = 0;
    double drift = 0; // on the loss from step 9 on, as rounding that has grown
};

} // namespace

class TestRecordedGradients : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        readers_.clear();
        records_.clear();
    }
    void aCorrectPairWithRepeatsPasses();
    void withoutRepeatsTheEnvelopeIsNotJudgedAndSaysHow();
    void repeatsThatAreEqualInEveryBitDoNotKeepTheGateClosed();
    void roundingThatGrowsIsJudgedByTheEnvelope();
    void aFactorOnTheGradientFails();
    void otherSamplesAreNotJudged();
    void aRankThatTrainsAloneFails();
    void aStepWithoutACollectiveFails();
    void ranksWithTheirOwnBatchStatisticsAreNotJudged();
    void anotherStartOrOtherSamplesAreNoRepeat();

private:
    RunReader& record(const Recorded& run)
    {
        const std::string folder = folder_.filePath(QString::number(++runs_)).toStdString();
        Result<RunWriter> writer = RunWriter::create(folder);
        bool ok = writer.ok();
        for (int rank = 0; ok && rank < run.world; ++rank)
            for (int step = 0; step <= kSteps; ++step) {
                const bool alone = rank == 1 && step >= run.aloneFrom;
                const std::uint64_t state = step == 0 ? run.start : std::uint64_t(step);
                StepRecord values{
                    rank,
                    step,
                    {{Quantity::ParamFingerprint, 0, state + (alone ? 1 : 0)},
                     {Quantity::BufferFingerprint, 0, std::uint64_t(run.statistics ? step : 0)}}};
                if (step > 0) {
                    const double wobble = 1 + run.noise * ((step * 7919) % 13 - 6);
                    const auto add = [&](Quantity quantity, std::uint16_t index, double value) {
                        values.values.push_back({quantity, index, bitsOf(value)});
                    };
                    add(Quantity::Loss, 0, 2.0 / step * wobble + run.lossOff + (step >= 9 ? run.drift : 0));
                    add(Quantity::GradNorm, 0, run.factor * wobble);
                    add(Quantity::UpdateNorm, 0, 0.1 * wobble);
                    for (std::uint16_t index = 0; index < 4; ++index)
                        add(Quantity::GradProj, index, run.factor * wobble * (index + 1));
                    values.values.push_back({Quantity::Samples, 0, std::uint64_t(8 / run.world)});
                    if (run.world > 1) // one more at the end of an epoch, as a barrier there makes
                        values.values.push_back({Quantity::CollectiveCount, 0,
                                                 std::uint64_t(step == run.withoutCollective ? 0
                                                               : step % 6 == 0               ? 2
                                                                                             : 1)});
                }
                ok = ok && writer->append(values).ok();
                if (step == 0)
                    continue;
                SamplesRecord samples{rank, step, 0, 0, {}, {}};
                for (int i = rank; i < 8; i += run.world) // every world-th one, as DistributedSampler deals
                    samples.ids.push_back(step * 8 + i + (step >= run.otherSamplesFrom ? 1000 : 0));
                ok = ok && writer->append(samples).ok();
            }
        ok = ok && writer->finish().ok();
        Result<RunReader> reader = RunReader::open(folder);
        if (!ok || !reader.ok())
            qFatal("the run could not be written");
        readers_.push_back(std::move(reader).value());
        return readers_.back();
    }
    void add(Role role, const Recorded& run)
    {
        RunConfig config;
        config.workload = "train";
        config.mode = run.world > 1 ? "ddp" : "single";
        config.world = run.world;
        config.batch = 8 / run.world;
        config.workloadOptions["script"] = "train.py";
        records_.push_back({role, config, &record(run)});
    }
    void addRepeats(double noise)
    {
        for (int i = 1; i <= 4; ++i)
            add(Role::Repeat, {.noise = noise * i});
    }
    GateInfo judged()
    {
        Result<GateInfo> gate = judgeRecordedGradients(records_, "Record four more");
        if (!gate.ok())
            qFatal("%s", gate.error().sentence().c_str());
        return std::move(gate).value();
    }
    static GateCheck check(const GateInfo& gate, const std::string& id)
    {
        for (const GateCheck& check : gate.checks)
            if (check.id == id)
                return check;
        return {};
    }
    static std::string verdict(const GateInfo& gate, const std::string& id)
    {
        return check(gate, id).verdict;
    }

    QTemporaryDir folder_;
    int runs_ = 0;
    std::deque<RunReader> readers_;
    std::vector<GradientsRecord> records_;
};

void TestRecordedGradients::aCorrectPairWithRepeatsPasses()
{
    add(Role::Baseline, {});
    add(Role::Ddp, {.world = 2, .noise = 2e-8});
    addRepeats(1e-8);
    const GateInfo gate = judged();
    QCOMPARE(gate.verdict, std::string("pass"));
    for (const char* id :
         {"gradients.first_batch", "gradients.first_ten", "gradients.loss", "gradients.grad_norm",
          "gradients.update_norm", "gradients.reduction", "gradients.ranks_equal", "gradients.collectives"})
        QVERIFY2(verdict(gate, id) == "pass", id);
    // For the engine's workloads only.
    QCOMPARE(verdict(gate, "gradients.twin"), std::string("cannot_judge"));
    QCOMPARE(verdict(gate, "gradients.world_one"), std::string("cannot_judge"));
}

void TestRecordedGradients::withoutRepeatsTheEnvelopeIsNotJudgedAndSaysHow()
{
    add(Role::Baseline, {});
    add(Role::Ddp, {.world = 2, .noise = 1e-8});
    const GateInfo gate = judged();
    QCOMPARE(gate.verdict, std::string("cannot_judge"));
    QCOMPARE(check(gate, "gradients.loss").fix, std::string("Record four more"));
    QCOMPARE(verdict(gate, "gradients.first_ten"), std::string("pass"));
}

void TestRecordedGradients::repeatsThatAreEqualInEveryBitDoNotKeepTheGateClosed()
{
    add(Role::Baseline, {});
    add(Role::Ddp, {.world = 2, .noise = 1e-8});
    addRepeats(0);
    const GateInfo gate = judged();
    QCOMPARE(verdict(gate, "gradients.loss"), std::string("cannot_judge"));
    QCOMPARE(gate.verdict, std::string("pass"));
}

void TestRecordedGradients::roundingThatGrowsIsJudgedByTheEnvelope()
{
    add(Role::Baseline, {});
    add(Role::Ddp, {.world = 2, .noise = 1e-8, .drift = 1e-4});
    const GateCheck early =
        check(judged(), "gradients.first_ten"); // nobody measured how far correct runs lie
    QCOMPARE(early.verdict, std::string("cannot_judge"));
    QCOMPARE(early.value, std::string("world 2: batch 9 0.22222 / 0.22232"));
    QCOMPARE(early.fix, std::string("Record four more"));
    for (int i = 1; i <= 4; ++i)
        add(Role::Repeat, {.noise = 1e-8 * i, .drift = (i % 2 ? 1e-4 : -1e-4) * i});
    const GateInfo gate = judged();
    QCOMPARE(verdict(gate, "gradients.first_ten"), std::string("pass"));
    QCOMPARE(gate.verdict, std::string("pass"));
    // Far outside what the repeats do it is none.
    records_.clear();
    add(Role::Baseline, {});
    add(Role::Ddp, {.world = 2, .noise = 1e-8, .drift = 0.1});
    addRepeats(1e-8);
    QCOMPARE(verdict(judged(), "gradients.first_ten"), std::string("fail"));
}

void TestRecordedGradients::aFactorOnTheGradientFails()
{
    add(Role::Baseline, {});
    add(Role::Ddp, {.world = 2, .noise = 1e-8, .factor = 2});
    addRepeats(1e-8);
    const GateInfo gate = judged();
    QCOMPARE(gate.verdict, std::string("fail"));
    QCOMPARE(verdict(gate, "gradients.reduction"), std::string("fail"));
    QCOMPARE(verdict(gate, "gradients.grad_norm"), std::string("fail"));
    QVERIFY(check(gate, "gradients.reduction").fix.find("world size") != std::string::npos);
}

void TestRecordedGradients::otherSamplesAreNotJudged()
{
    add(Role::Baseline, {});
    add(Role::Ddp, {.world = 2, .otherSamplesFrom = 5, .lossOff = 1});
    addRepeats(1e-8);
    const GateInfo gate = judged();
    QCOMPARE(gate.verdict, std::string("cannot_judge"));
    QCOMPARE(verdict(gate, "gradients.first_ten"), std::string("cannot_judge"));
    QVERIFY(check(gate, "gradients.loss").sentence.find("from step 5") != std::string::npos);
    QCOMPARE(verdict(gate, "gradients.ranks_equal"), std::string("pass"));
}

void TestRecordedGradients::aRankThatTrainsAloneFails()
{
    add(Role::Baseline, {});
    add(Role::Ddp, {.world = 2, .aloneFrom = 4});
    const GateInfo gate = judged();
    QCOMPARE(gate.verdict, std::string("fail"));
    QCOMPARE(check(gate, "gradients.ranks_equal").step, std::int64_t(4));
    QCOMPARE(check(gate, "gradients.ranks_equal").rank, 1);
}

void TestRecordedGradients::aStepWithoutACollectiveFails()
{
    add(Role::Baseline, {});
    add(Role::Ddp, {.world = 2, .withoutCollective = 3});
    const GateInfo gate = judged();
    QCOMPARE(verdict(gate, "gradients.collectives"), std::string("fail"));
    QCOMPARE(check(gate, "gradients.collectives").step, std::int64_t(3));
}

void TestRecordedGradients::ranksWithTheirOwnBatchStatisticsAreNotJudged()
{
    add(Role::Baseline, {.statistics = true});
    add(Role::Ddp, {.world = 2, .statistics = true, .lossOff = 0.01});
    const GateInfo gate = judged();
    QCOMPARE(gate.verdict, std::string("cannot_judge"));
    QCOMPARE(verdict(gate, "gradients.first_batch"), std::string("cannot_judge"));
    QVERIFY(check(gate, "gradients.first_batch").fix.find("SyncBatchNorm") != std::string::npos);
}

void TestRecordedGradients::anotherStartOrOtherSamplesAreNoRepeat()
{
    RunReader& baseline = record({});
    const auto repeats = [&](const Recorded& run) {
        const Result<bool> found = repeatsBaseline(baseline, record(run));
        return found.ok() && *found;
    };
    QVERIFY(repeats({.noise = 1e-8}));
    QVERIFY(!repeats({.start = 8}));
    QVERIFY(!repeats({.otherSamplesFrom = 9}));
}

QTEST_GUILESS_MAIN(TestRecordedGradients)
#include "tst_recorded_gradients.moc"
