// A checkpoint against the fingerprints and norms a run recorded of its model.
#include "core/base/fingerprint.h"
#include "core/ckpt/open.h"
#include "core/ckpt/run_diff.h"
#include "core/ckpt/torch_zip_writer.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace lockstep;

namespace {

// A model of three parameters and two buffers, its state dict and the records of it.
class Model
{
public:
    Model()
    {
        add("0.weight", 12);
        add("1.weight", 4);
        add("1.running_mean", 4, true);
        add("1.num_batches_tracked", 1, true);
        add("2.bias", 3);
    }

    Checkpoint save(const QTemporaryDir& folder, const std::string& prefix = {}, bool tie = false) const
    {
        SaveDict root;
        root.ordered = true;
        for (const Part& part : parts_)
            root.set(prefix + part.name, tensor(part));
        if (tie) {
            SaveDict tied;
            tied.ordered = true;
            const SaveTensor first = tensor(parts_[0]);
            tied.set("0.weight", first);
            for (std::size_t i = 1; i < parts_.size(); ++i)
                tied.set(parts_[i].name, tensor(parts_[i]));
            tied.set("head.weight", first);
            root = tied;
        }
        const std::string path = folder.filePath(QStringLiteral("model.pt")).toStdString();
        if (!writeTorchZip(path, root).ok())
            qFatal("cannot write a checkpoint");
        return std::move(*openCheckpoint(path));
    }

    std::vector<TensorRecord> records() const
    {
        std::vector<TensorRecord> all;
        for (const Part& part : parts_) {
            TensorRecord record;
            record.name = part.name;
            record.buffer = part.buffer;
            record.has = TensorRecord::State;
            record.stateFingerprint = fingerprint(part.values.data(), part.values.size(), sizeof(float));
            record.stateNorm = std::sqrt(sumOfSquares(part.values.data(), part.values.size()));
            if (part.name.ends_with("tracked")) {
                record.stateFingerprint = fingerprint(&counter_, 1, sizeof counter_);
                record.stateNorm = 0;
            }
            all.push_back(record);
        }
        return all;
    }

    std::uint64_t parameters() const
    {
        std::uint64_t sum = 0, first = 0;
        for (const Part& part : parts_) {
            if (part.buffer)
                continue;
            sum += fingerprint(part.values.data(), part.values.size(), sizeof(float), first);
            first += part.values.size();
        }
        return sum;
    }

    void change(std::size_t part) { parts_[part].values[0] += 1; }

private:
    struct Part {
        std::string name;
        bool buffer = false;
        std::vector<float> values;
    };

    void add(const std::string& name, std::size_t count, bool buffer = false)
    {
        Part part{name, buffer, std::vector<float>(count)};
        for (std::size_t i = 0; i < count; ++i)
            part.values[i] = static_cast<float>(i + parts_.size()) * 0.3f;
        parts_.push_back(std::move(part));
    }
    SaveTensor tensor(const Part& part) const
    {
        if (part.name.ends_with("tracked"))
            return SaveTensor::dense(DType::Int64, {}, std::as_bytes(std::span(&counter_, 1)));
        return SaveTensor::dense(DType::Float32, {static_cast<std::int64_t>(part.values.size())},
                                 std::as_bytes(std::span(part.values)));
    }

    std::vector<Part> parts_;
    std::int64_t counter_ = 7;
};

std::vector<std::string> statuses(const RunDiff& diff)
{
    std::vector<std::string> all;
    for (const RecordedKeyDiff& key : diff.keys)
        all.push_back((key.key ? *key.key : *key.recorded) + " " + std::string(diffStatusName(key.status)));
    return all;
}

} // namespace

class TestCkptRunDiff : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void sameModelIsEqual();
    void changedTensorIsNamed();
    void wrapperPrefixIsSeenThrough();
    void missingAndFurtherKeysAreListed();
    void secondNameOfATiedWeightIsNoDifference();
    void otherElementTypeIsSaid();
    void parametersAreNumberedThrough();
    void runsOwnCheckpointIsEqual();
};

void TestCkptRunDiff::sameModelIsEqual()
{
    QTemporaryDir folder;
    const Model model;
    const RunDiff diff = diffAgainstRecords(model.save(folder), model.records());
    QVERIFY(diff.equal());
    QCOMPARE(diff.keys.size(), std::size_t{5});
    for (const RecordedKeyDiff& key : diff.keys)
        QCOMPARE(key.norm, key.recordedNorm); // bit for bit: same lanes, same order
}

void TestCkptRunDiff::changedTensorIsNamed()
{
    QTemporaryDir folder;
    Model model;
    const auto records = model.records();
    model.change(1);
    const RunDiff diff = diffAgainstRecords(model.save(folder), records);
    QVERIFY(!diff.equal());
    QCOMPARE(statuses(diff),
             (std::vector<std::string>{"0.weight equal", "1.weight values", "1.running_mean equal",
                                       "1.num_batches_tracked equal", "2.bias equal"}));
}

void TestCkptRunDiff::wrapperPrefixIsSeenThrough()
{
    QTemporaryDir folder;
    const Model model;
    const RunDiff diff = diffAgainstRecords(model.save(folder, "module."), model.records());
    QVERIFY(diff.equal());
    QCOMPARE(diff.mapping.prefixA, std::string("module."));
}

void TestCkptRunDiff::missingAndFurtherKeysAreListed()
{
    QTemporaryDir folder;
    const Model model;
    auto records = model.records();
    records[0].name = "9.weight";
    const RunDiff diff = diffAgainstRecords(model.save(folder), records);
    QVERIFY(!diff.equal());
    QCOMPARE(statuses(diff).front(), std::string("0.weight only_a"));
    QCOMPARE(statuses(diff).back(), std::string("9.weight only_b"));
}

void TestCkptRunDiff::secondNameOfATiedWeightIsNoDifference()
{
    QTemporaryDir folder;
    const Model model;
    const Checkpoint checkpoint = model.save(folder, {}, true);
    QVERIFY(diffAgainstRecords(checkpoint, model.records()).equal());
    QCOMPARE(parameterFingerprint(checkpoint), std::optional(model.parameters()));
}

void TestCkptRunDiff::otherElementTypeIsSaid()
{
    QTemporaryDir folder;
    const std::vector<double> values = {1, 2, 3};
    SaveDict root;
    root.set("w", SaveTensor::dense(DType::Float64, {3}, std::as_bytes(std::span(values))));
    const std::string path = folder.filePath(QStringLiteral("w.pt")).toStdString();
    QVERIFY(writeTorchZip(path, root).ok());
    const std::vector<float> recorded = {1, 2, 3};
    TensorRecord record;
    record.name = "w";
    record.has = TensorRecord::State;
    record.stateFingerprint = fingerprint(recorded.data(), 3, sizeof(float));
    record.stateNorm = std::sqrt(sumOfSquares(recorded.data(), 3));
    const RunDiff diff = diffAgainstRecords(*openCheckpoint(path), {&record, 1});
    QCOMPARE(diff.keys.at(0).status, DiffStatus::Type);
    QCOMPARE(diff.keys[0].norm, diff.keys[0].recordedNorm);
}

void TestCkptRunDiff::parametersAreNumberedThrough()
{
    QTemporaryDir folder;
    Model model;
    QCOMPARE(parameterFingerprint(model.save(folder)), std::optional(model.parameters()));
    const std::uint64_t before = model.parameters();
    model.change(2); // a running statistic is no parameter
    QCOMPARE(parameterFingerprint(model.save(folder)), std::optional(before));
    model.change(4);
    QVERIFY(parameterFingerprint(model.save(folder)) != std::optional(before));
}

// A run's checkpoint through the command line: found at its own step, unlike the step before.
void TestCkptRunDiff::runsOwnCheckpointIsEqual()
{
    const QString cli = QStringLiteral(LOCKSTEP_BIN_DIR "/lockstep-cli");
    if (!QFile::exists(cli) || !QFile::exists(QStringLiteral(LOCKSTEP_BIN_DIR "/lockstep-worker")))
        QSKIP("No lockstep-cli or lockstep-worker; run ./dev build");
    QTemporaryDir folder;
    const QString project = folder.filePath(QStringLiteral("project"));
    const auto answer = [&](const QStringList& arguments, int wanted) {
        QProcess process;
        process.start(cli, arguments);
        if (!process.waitForFinished(120'000) || process.exitCode() != wanted)
            qWarning().noquote() << arguments << process.exitCode() << process.readAllStandardError();
        return QJsonDocument::fromJson(process.readAllStandardOutput()).object();
    };
    answer({QStringLiteral("init"), project, QStringLiteral("--json")}, 0);
    const QJsonObject run =
        answer({QStringLiteral("run"), project, QStringLiteral("--mode"), QStringLiteral("single"),
                QStringLiteral("--workload"), QStringLiteral("toy-mlp"), QStringLiteral("--steps"),
                QStringLiteral("4"), QStringLiteral("--record"), QStringLiteral("tensor"),
                QStringLiteral("--name"), QStringLiteral("a"), QStringLiteral("--json")},
               0);
    const QString file =
        run[QStringLiteral("folder")].toString() + QStringLiteral("/checkpoints/step_00000004.pt");
    QVERIFY2(QFile::exists(file), qPrintable(file));
    const QStringList diff = {QStringLiteral("ckpt"),   QStringLiteral("diff"),  file,
                              QStringLiteral("--json"), QStringLiteral("--run"), project,
                              QStringLiteral("a")};
    const QJsonObject own = answer(diff, 0);
    QCOMPARE(own[QStringLiteral("equal")].toBool(), true);
    QCOMPARE(own[QStringLiteral("step")].toInt(), 4);
    QCOMPARE(own[QStringLiteral("parameters_equal")].toBool(), true);
    const QJsonObject before = answer(diff + QStringList{QStringLiteral("--step"), QStringLiteral("3")}, 1);
    QCOMPARE(before[QStringLiteral("equal")].toBool(true), false);
}

QTEST_GUILESS_MAIN(TestCkptRunDiff)
#include "tst_ckpt_run_diff.moc"
