// Phase 3 judged on made-up records, so that each part can be wrong.
#include "core/gates/precision_judge.h"

#include "core/store/run_writer.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <deque>
#include <functional>

using namespace lockstep;

namespace {

using Role = PrecisionRun::Role;

constexpr std::int64_t kHalf = 10;

// What one run records in one step; changed by the tests.
struct Step {
    double loss = 0;
    double gradient = 0; // norm of the reduced gradient
    double clipped = 0;
    double clipNorm = 0; // what this rank's clipping works with
    double scale = 65536;
    std::uint64_t parameters = 0;
    std::int64_t counter = 0;
};

using Change = std::function<void(Role, int rank, std::int64_t step, Step&)>;

Step usual(Role role, std::int64_t number, std::int64_t noise)
{
    Step step;
    step.loss = 2.0 / double(number + 1) + 1e-9 * double(noise) * double(number + 1);
    step.gradient = 3.0 / double(number + 1) + 1e-9 * double(noise) * double(number + 1);
    step.clipNorm = step.gradient;
    step.clipped = std::min(step.gradient, 1.0);
    const bool ranks = role == Role::Ddp || role == Role::Resumed;
    step.parameters = std::uint64_t(number) * 7919u + (ranks ? 1 : std::uint64_t(noise) * 100);
    step.counter = number;
    return step;
}

constexpr std::size_t kRepeats = 4; // with the single run 5: what an envelope needs

struct Repeats {
    QTemporaryDir folder;
    std::deque<RunReader> readers;
    std::vector<PrecisionRecord> records;

    static PrecisionRecord add(const QTemporaryDir& parent, const PrecisionRun& run, std::int64_t noise,
                               const Change& change, std::deque<RunReader>& readers)
    {
        const std::string folder = parent.filePath(QString::number(readers.size())).toStdString();
        QDir().mkpath(QString::fromStdString(folder));
        {
            Result<RunWriter> writer = RunWriter::create(folder);
            if (!writer || !writer->beginSegment(0, run.config.world, "start"))
                qFatal("no run");
            const std::int64_t from = run.resumesFrom ? kHalf : 0;
            for (std::int64_t number = from; number <= 2 * kHalf; ++number)
                for (int rank = 0; rank < run.config.world; ++rank) {
                    Step step = usual(run.role, number, noise);
                    if (change)
                        change(run.role, rank, number, step);
                    StepRecord record{rank, number, {{Quantity::ParamFingerprint, 0, step.parameters}}};
                    if (number > from)
                        record.values.insert(record.values.end(),
                                             {{Quantity::Loss, 0, bitsOf(step.loss)},
                                              {Quantity::Samples, 0, 32},
                                              {Quantity::GradNorm, 0, bitsOf(step.gradient)},
                                              {Quantity::GradNormClipped, 0, bitsOf(step.clipped)},
                                              {Quantity::ClipNormTorch, 0, bitsOf(step.clipNorm)},
                                              {Quantity::UpdateNorm, 0, bitsOf(step.gradient * 0.1)},
                                              {Quantity::ScalerScale, 0, bitsOf(step.scale)},
                                              {Quantity::StepSkipped, 0, 0},
                                              {Quantity::OptimizerStep, 0, std::uint64_t(step.counter)}});
                    if (!writer->append(record))
                        qFatal("no step");
                }
            if (!writer->finish())
                qFatal("no finish");
        }
        Result<RunReader> reader = RunReader::open(folder);
        if (!reader)
            qFatal("%s", reader.error().sentence().c_str());
        readers.push_back(std::move(reader).value());
        return {run.role, run.config, &readers.back()};
    }
};

class Records
{
public:
    explicit Records(const Change& change = {})
    {
        request_.base.mode = "ddp";
        request_.base.world = 2;
        request_.base.amp = "fp16";
        request_.base.clipNorm = 1;
        request_.world = 2;
        request_.steps = 2 * kHalf;
        // The repeats are never changed: they are written once, with noise of their own each.
        static Repeats repeats;
        std::int64_t noise = 0;
        for (PrecisionRun& run : precisionPlan(request_)) {
            if (run.role != Role::Repeat)
                records_.push_back(
                    repeats.add(folder_, run, run.role == Role::Single ? 0 : 1, change, readers_));
            else if (repeats.records.size() < kRepeats)
                repeats.records.push_back(repeats.add(repeats.folder, run, ++noise % 4, {}, repeats.readers));
        }
        records_.insert(records_.end(), repeats.records.begin(), repeats.records.end());
        checkpoint.path = "step_00000010.pt";
        checkpoint.keys = 4;
        checkpoint.present = {"model (4 tensors, float32)", "optimizer", "scheduler", "random numbers",
                              "scaler"};
        checkpoint.pythonAsked = checkpoint.pythonLoads = true;
        checkpoint.python = "torch loads it.";
    }

    CheckpointFacts checkpoint;

    GateInfo judge()
    {
        Result<GateInfo> gate = judgePrecision(request_, records_, checkpoint);
        if (!gate)
            qFatal("%s", gate.error().sentence().c_str());
        return std::move(gate).value();
    }

private:
    QTemporaryDir folder_;
    PrecisionRequest request_;
    std::deque<RunReader> readers_;
    std::vector<PrecisionRecord> records_;
};

std::string failing(const GateInfo& gate)
{
    std::string ids;
    for (const GateCheck& check : gate.checks)
        if (check.verdict != "pass")
            ids += check.id + " ";
    return ids;
}

} // namespace

class TestPrecisionJudge : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void soundRunsPass()
    {
        const GateInfo gate = Records().judge();
        QCOMPARE(failing(gate), std::string());
        QCOMPARE(gate.verdict, std::string("pass"));
        QCOMPARE(gate.phase, std::string("precision"));
    }

    void eachPartCanFail_data()
    {
        QTest::addColumn<Change>("change");
        QTest::addColumn<QByteArray>("failing");
        QTest::addColumn<int>("step");
        const auto row = [](const char* name, int step, const char* ids, Change change) {
            QTest::newRow(name) << change << QByteArray(ids) << step;
        };
        row("DDP leaves the envelope", 13, "precision.envelope precision.resume precision.ddp_to_single ",
            [](Role role, int, std::int64_t step, Step& s) {
                if (role == Role::Ddp && step == 13)
                    s.loss *= 1.1;
            });
        row("one rank has another scale", 7, "precision.scaler ",
            [](Role role, int rank, std::int64_t step, Step& s) {
                if (role == Role::Ddp && rank == 1 && step == 7)
                    s.scale /= 2;
            });
        row("a rank clips its own gradient", 3, "precision.clipping ",
            [](Role role, int rank, std::int64_t step, Step& s) {
                if ((role == Role::Ddp || role == Role::Resumed) && rank == 1 && step >= 3)
                    s.clipNorm *= 1.5;
            });
        row("nothing is clipped", 1, "precision.clipping ", [](Role role, int, std::int64_t, Step& s) {
            if (role == Role::Ddp || role == Role::Resumed)
                s.clipped = s.gradient;
        });
        row("the loaded weights differ", kHalf + 1, "precision.rollback precision.resume ",
            [](Role role, int, std::int64_t step, Step& s) {
                if (role == Role::Resumed && step > kHalf)
                    s.loss *= 1 + 1e-15;
            });
        row("the resumed run parts", 15, "precision.resume ", [](Role role, int, std::int64_t step, Step& s) {
            if (role == Role::Resumed && step >= 15)
                ++s.parameters;
        });
        row("one process goes on with another batch", 11, "precision.ddp_to_single ",
            [](Role role, int, std::int64_t, Step& s) {
                if (role == Role::DdpToSingle)
                    s.gradient *= 2;
            });
    }
    void eachPartCanFail()
    {
        QFETCH(Change, change);
        QFETCH(QByteArray, failing);
        QFETCH(int, step);
        const GateInfo gate = Records(change).judge();
        QCOMPARE(::failing(gate), failing.toStdString());
        QCOMPARE(gate.verdict, std::string("fail"));
        for (const GateCheck& check : gate.checks) {
            if (check.verdict != "fail")
                continue;
            QCOMPARE(check.step, step);
            QVERIFY2(!check.fix.empty(), check.id.c_str());
        }
    }

    void anOptimizerThatStartsAgainIsFound()
    {
        const GateInfo gate = Records([](Role role, int, std::int64_t step, Step& s) {
                                  if (role == Role::Resumed)
                                      s.counter = step - kHalf;
                              }).judge();
        QCOMPARE(failing(gate), std::string("precision.rollback precision.resume precision.optimizer_step "));
    }

    void theCheckpointIsJudgedPartByPart()
    {
        Records records;
        records.checkpoint.prefixed = {"module.fc.weight"};
        records.checkpoint.missing = {"random numbers"};
        records.checkpoint.pythonLoads = false;
        const GateInfo gate = records.judge();
        QCOMPARE(failing(gate), std::string("precision.prefix precision.parts precision.python "));
    }

    void withoutPythonTheGateMayStillPass()
    {
        Records records;
        records.checkpoint.pythonAsked = false;
        const GateInfo gate = records.judge();
        QCOMPARE(failing(gate), std::string("precision.python "));
        QCOMPARE(gate.verdict, std::string("pass"));
    }
};

QTEST_GUILESS_MAIN(TestPrecisionJudge)
#include "tst_precision_judge.moc"
