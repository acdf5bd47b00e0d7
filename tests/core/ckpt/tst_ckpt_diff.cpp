// The diff of two checkpoints: the pairs of the shared corpus against their truth, and names that wrappers changed.
#include "core/ckpt/diff.h"
#include "core/ckpt/open.h"
#include "core/ckpt/torch_zip_writer.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

using namespace lockstep;

namespace {

QString corpus()
{
    return QStringLiteral(LOCKSTEP_SHARED_DIR "/corpus");
}

// A state dict of float32 vectors of three elements, each filled with its own value.
class StateDict
{
public:
    StateDict& add(const std::string& key, float value = 1)
    {
        values_.push_back(std::make_unique<std::array<float, 3>>(std::array<float, 3>{value, value, value}));
        dict_.set(key, SaveTensor::dense(DType::Float32, {3}, std::as_bytes(std::span(*values_.back()))));
        return *this;
    }
    Checkpoint write(const QTemporaryDir& folder, const QString& name)
    {
        const std::string file = folder.filePath(name).toStdString();
        TorchZipOptions options;
        options.durable = false;
        if (!writeTorchZip(file, dict_, options).ok())
            qFatal("the file could not be written");
        return std::move(openCheckpoint(file)).value();
    }

private:
    std::vector<std::unique_ptr<std::array<float, 3>>> values_;
    SaveDict dict_;
};

} // namespace

class TestCkptDiff : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void pairsOfTheCorpus_data();
    void pairsOfTheCorpus();
    void mappingOfNames_data();
    void mappingOfNames();
    void wrapperSegmentsInAnyOrderAreSeenThrough();
    void wrappersBelowAKeyOfTheFileAreSeenThrough();
    void missingAndExtraKeysAreListedOnEachSide();
    void tieOnOneSideIsReported();
    void largeTensorsAreCutAndAddUp();
    void unreadableSideIsSaidToBeUnreadable();
    void endlessViewIsNotGoneThrough();
    void manyLongViewsAreNotGoneThrough();
};

void TestCkptDiff::pairsOfTheCorpus_data()
{
    QTest::addColumn<QJsonObject>("truth");
    QFile file(corpus() + QStringLiteral("/pairs/truth.jsonl"));
    if (!file.open(QIODevice::ReadOnly)) {
        QTest::newRow("no corpus") << QJsonObject();
        return;
    }
    for (const QByteArray& line : file.readAll().split('\n')) {
        if (line.trimmed().isEmpty())
            continue;
        const QJsonObject truth = QJsonDocument::fromJson(line).object();
        QTest::newRow(qPrintable(truth[QStringLiteral("pair")].toString())) << truth;
    }
}

void TestCkptDiff::pairsOfTheCorpus()
{
    QFETCH(QJsonObject, truth);
    if (truth.isEmpty())
        QSKIP("No shared corpus beside the source tree");
    const auto open = [&](const char* side) {
        return openCheckpoint(
            (corpus() + QLatin1Char('/') + truth[QLatin1String(side)].toString()).toStdString());
    };
    const Result<Checkpoint> a = open("a"), b = open("b");
    QVERIFY(a.ok() && b.ok());
    const CheckpointDiff diff = diffCheckpoints(*a, *b);
    const QJsonArray keys = truth[QStringLiteral("keys")].toArray();
    QCOMPARE(static_cast<qsizetype>(diff.keys.size()), keys.size());
    for (const QJsonValue& value : keys) {
        const QJsonObject want = value.toObject();
        const auto found = std::find_if(diff.keys.begin(), diff.keys.end(), [&](const KeyDiff& key) {
            return QString::fromStdString(key.keyA.value_or("")) ==
                       want[QStringLiteral("key_a")].toString() &&
                   QString::fromStdString(key.keyB.value_or("")) == want[QStringLiteral("key_b")].toString();
        });
        QVERIFY2(found != diff.keys.end(), qPrintable(want[QStringLiteral("key_a")].toString()));
        QCOMPARE(QString::fromUtf8(diffStatusName(found->status).data()),
                 want[QStringLiteral("status")].toString());
        if (!want.contains(QStringLiteral("n_diff")))
            continue;
        const auto count = [&](const char* name) {
            return static_cast<std::uint64_t>(want[QLatin1String(name)].toDouble());
        };
        QCOMPARE(found->elements.valuesDiffer, count("n_diff"));
        QCOMPARE(found->elements.nonfiniteMismatch, count("nonfinite_mismatch"));
        QCOMPARE(found->elements.a.nan, count("nan_a"));
        QCOMPARE(found->elements.b.inf, count("inf_b"));
        if (!want[QStringLiteral("bits_differ")].isNull())
            QCOMPARE(found->elements.bitsDiffer, count("bits_differ"));
        const QJsonValue largest = want[QStringLiteral("max_abs")];
        if (largest.isNull())
            QCOMPARE(found->elements.maxAbs.index(), std::size_t{0});
        else
            QVERIFY(toDouble(found->elements.maxAbs) == largest.toDouble());
        QCOMPARE(found->transposedValues, want[QStringLiteral("transposed_values")].toBool());
    }
    const QJsonObject mapping = truth[QStringLiteral("mapping")].toObject();
    QCOMPARE(QString::fromStdString(diff.mapping.prefixA), mapping[QStringLiteral("a")].toString());
    QCOMPARE(QString::fromStdString(diff.mapping.prefixB), mapping[QStringLiteral("b")].toString());
}

void TestCkptDiff::mappingOfNames_data()
{
    QTest::addColumn<QStringList>("a");
    QTest::addColumn<QStringList>("b");
    QTest::addColumn<QString>("prefixA");
    QTest::addColumn<QString>("prefixB");
    QTest::addColumn<int>("matched");
    const auto row = [](const char* name, QStringList a, QStringList b, const char* prefixA,
                        const char* prefixB, int matched) {
        QTest::newRow(name) << a << b << QString::fromLatin1(prefixA) << QString::fromLatin1(prefixB)
                            << matched;
    };
    const QStringList plain = {QStringLiteral("a.w"), QStringLiteral("a.b"), QStringLiteral("c")};
    const auto with = [&](const char* prefix) {
        QStringList names;
        for (const QString& name : plain)
            names << QString::fromLatin1(prefix) + name;
        return names;
    };
    row("same names", plain, plain, "", "", 3);
    row("prefix on b", plain, with("module."), "", "module.", 3);
    row("prefix on a", with("model.net."), plain, "model.net.", "", 3);
    row("two wrappers", plain, with("module._orig_mod."), "", "module._orig_mod.", 3);
    row("nothing in common", {QStringLiteral("x")}, {QStringLiteral("y")}, "", "", 0);
    // A child that happens to be called module is no wrapper.
    row("child called module", {QStringLiteral("module.w"), QStringLiteral("u")},
        {QStringLiteral("module.w"), QStringLiteral("u")}, "", "", 2);
}

void TestCkptDiff::mappingOfNames()
{
    QFETCH(QStringList, a);
    QFETCH(QStringList, b);
    QFETCH(QString, prefixA);
    QFETCH(QString, prefixB);
    QFETCH(int, matched);
    const auto names = [](const QStringList& list) {
        std::vector<std::string> result;
        for (const QString& name : list)
            result.push_back(name.toStdString());
        return result;
    };
    const KeyMapping mapping = findMapping(names(a), names(b));
    QCOMPARE(QString::fromStdString(mapping.prefixA), prefixA);
    QCOMPARE(QString::fromStdString(mapping.prefixB), prefixB);
    QCOMPARE(static_cast<int>(mapping.matched), matched);
    QVERIFY(mapping.drop.empty());
}

void TestCkptDiff::wrapperSegmentsInAnyOrderAreSeenThrough()
{
    const std::vector<std::string> plain = {"stem.weight", "blocks.0.weight", "head.weight"};
    const std::vector<std::string> wrapped = {"_orig_mod.module.stem.weight",
                                              "module.blocks._fsdp_wrapped_module.0.weight",
                                              "head._checkpoint_wrapped_module.weight"};
    const KeyMapping mapping = findMapping(plain, wrapped);
    QCOMPARE(mapping.matched, std::size_t{3});
    for (std::size_t i = 0; i < plain.size(); ++i)
        QCOMPARE(mapping.fromB(wrapped[i]), mapping.fromA(plain[i]));
}

// {"model": ..., "optimizer": ...}: names are paths there, because the optimizer's keys are numbers.
void TestCkptDiff::wrappersBelowAKeyOfTheFileAreSeenThrough()
{
    const std::vector<std::string> wrapped = {
        "/s:model/s:module.conv.0.weight", "/s:model/s:_orig_mod.module.b", "/s:ema/s:module/s:conv.0.weight",
        "/s:optimizer/s:state/i:0/s:step"};
    const std::vector<std::string> plain = {"/s:model/s:conv.0.weight", "/s:model/s:b",
                                            "/s:ema/s:conv.0.weight", "/s:optimizer/s:state/i:0/s:step"};
    const KeyMapping mapping = findMapping(wrapped, plain);
    QCOMPARE(mapping.matched, std::size_t{4});
    for (std::size_t i = 0; i < plain.size(); ++i)
        QCOMPARE(mapping.fromA(wrapped[i]), plain[i]);
    const KeyMapping bare = findMapping({{"conv.0.weight", "b"}}, wrapped);
    QCOMPARE(bare.matched, std::size_t{2});
    QCOMPARE(bare.fromB(wrapped[1]), std::string("b"));
    QCOMPARE(shownName(wrapped[0]), std::string("model.module.conv.0.weight"));
    QCOMPARE(shownName("a.weight"), std::string("a.weight"));
    QCOMPARE(shownPrefix("/s:model/s:module."), std::string("model.module."));
    QCOMPARE(shownPrefix("/s:model/s:"), std::string("model."));
    QCOMPARE(shownPrefix("/s:"), std::string());
    // A last segment is never a wrapper, and other steps keep their marks.
    QCOMPARE(withoutWrappers("/s:a/i:3/s:module"), std::string("/s:a/i:3/s:module"));
    QCOMPARE(withoutWrappers("/l:0/s:module.module.w"), std::string("/l:0/s:w"));
    for (const char* prefix : {"module", "module."}) {
        QCOMPARE(withoutPrefix("module.fc.weight", prefix), std::string("fc.weight"));
        QCOMPARE(withoutPrefix("other.weight", prefix), std::string("other.weight"));
        QCOMPARE(withoutPrefix("module.", prefix), prefix[6] ? std::string("module.") : std::string("."));
    }
    QCOMPARE(withoutPrefix("modules.weight", "module"), std::string("s.weight")); // as asked for, no segment
}

void TestCkptDiff::missingAndExtraKeysAreListedOnEachSide()
{
    QTemporaryDir folder;
    const Checkpoint a = StateDict().add("x").add("only_here").write(folder, QStringLiteral("a.pt"));
    const Checkpoint b = StateDict().add("x", 2).add("only_there").write(folder, QStringLiteral("b.pt"));
    const CheckpointDiff diff = diffCheckpoints(a, b);
    QCOMPARE(diff.keys.size(), std::size_t{3});
    QCOMPARE(diff.keys[0].status, DiffStatus::Values);
    QCOMPARE(diff.keys[0].elements.valuesDiffer, std::uint64_t{3});
    QCOMPARE(diff.keys[1].status, DiffStatus::OnlyA);
    QCOMPARE(diff.keys[2].status, DiffStatus::OnlyB);
    QVERIFY(!diff.equal());
    QVERIFY(diffCheckpoints(a, a).equal());
}

void TestCkptDiff::tieOnOneSideIsReported()
{
    QTemporaryDir folder;
    const std::array<float, 3> values = {1, 2, 3};
    SaveDict tied;
    const SaveTensor tensor = SaveTensor::dense(DType::Float32, {3}, std::as_bytes(std::span(values)));
    tied.set("emb", tensor);
    tied.set("head", tensor);
    const std::string file = folder.filePath(QStringLiteral("tied.pt")).toStdString();
    QVERIFY(writeTorchZip(file, tied).ok());
    const Checkpoint a = std::move(openCheckpoint(file)).value();
    const Checkpoint b = StateDict().add("emb").add("head").write(folder, QStringLiteral("b.pt"));
    const CheckpointDiff diff = diffCheckpoints(a, b);
    QCOMPARE(diff.ties.size(), std::size_t{1});
    QVERIFY(diff.ties[0].tiedA && !diff.ties[0].tiedB);
    QCOMPARE(diff.ties[0].keys, (std::vector<std::string>{"emb", "head"}));
}

void TestCkptDiff::largeTensorsAreCutAndAddUp()
{
    QTemporaryDir folder;
    const std::size_t n = 5'000'003; // more than two parts, not a multiple of anything
    std::vector<float> x(n, 1.0f), y(n, 1.0f);
    for (std::size_t i = 0; i < n; i += 1000)
        y[i] = 1.5f;
    y[n - 1] = -4;
    for (const auto& [name, data] : {std::pair{"x.pt", &x}, std::pair{"y.pt", &y}}) {
        TorchZipOptions options;
        options.durable = false;
        SaveDict dict;
        dict.set("w", SaveTensor::dense(DType::Float32, {static_cast<std::int64_t>(n)},
                                        std::as_bytes(std::span(*data))));
        QVERIFY(writeTorchZip(folder.filePath(QLatin1String(name)).toStdString(), dict, options).ok());
    }
    const Checkpoint a =
        std::move(openCheckpoint(folder.filePath(QStringLiteral("x.pt")).toStdString())).value();
    const Checkpoint b =
        std::move(openCheckpoint(folder.filePath(QStringLiteral("y.pt")).toStdString())).value();
    for (const int threads : {1, 2, 5}) {
        DiffOptions options;
        options.threads = threads;
        const CheckpointDiff diff = diffCheckpoints(a, b, options);
        QCOMPARE(diff.keys[0].elements.valuesDiffer, static_cast<std::uint64_t>((n + 999) / 1000 + 1));
        QCOMPARE(std::get<double>(diff.keys[0].elements.maxAbs), 5.0);
        QVERIFY(std::abs(diff.keys[0].elements.a.l2() - std::sqrt(static_cast<double>(n))) < 1e-9);
    }
}

void TestCkptDiff::unreadableSideIsSaidToBeUnreadable()
{
    const QString damaged = corpus() + QStringLiteral("/damaged/missing_record.pt");
    if (!QFile::exists(damaged))
        QSKIP("No shared corpus beside the source tree");
    const Checkpoint checkpoint = std::move(openCheckpoint(damaged.toStdString())).value();
    const CheckpointDiff diff = diffCheckpoints(checkpoint, checkpoint);
    const auto unreadable = std::count_if(diff.keys.begin(), diff.keys.end(), [](const KeyDiff& key) {
        return key.status == DiffStatus::Unreadable && !key.problem.empty();
    });
    QCOMPARE(unreadable, 1);
    QVERIFY(!diff.equal());
}

// A view of stride 0 may have 2^62 elements over four bytes; torch loads it.
void TestCkptDiff::endlessViewIsNotGoneThrough()
{
    QTemporaryDir folder;
    const float value = 1;
    SaveTensor endless = SaveTensor::dense(DType::Float32, {1}, std::as_bytes(std::span(&value, 1)));
    endless.shape = {std::int64_t{1} << 60};
    endless.stride = {0};
    SaveDict dict;
    dict.set("endless", endless);
    const std::string file = folder.filePath(QStringLiteral("e.pt")).toStdString();
    QVERIFY(writeTorchZip(file, dict).ok());
    const Checkpoint checkpoint = std::move(openCheckpoint(file)).value();
    const CheckpointDiff diff = diffCheckpoints(checkpoint, checkpoint);
    QCOMPARE(diff.keys.size(), std::size_t{1});
    QCOMPARE(diff.keys[0].status, DiffStatus::Unreadable);
    QVERIFY(!diff.keys[0].problem.empty());
}

// Each of them would be: 40 MiB. A thousand of them, out of a file of 100 KB, are not.
void TestCkptDiff::manyLongViewsAreNotGoneThrough()
{
    QTemporaryDir folder;
    const float value = 1;
    SaveTensor view = SaveTensor::dense(DType::Float32, {1}, std::as_bytes(std::span(&value, 1)));
    view.shape = {10 << 20};
    view.stride = {0};
    SaveDict dict;
    for (int i = 0; i < 1000; ++i)
        dict.set("view" + std::to_string(i), view);
    const std::string file = folder.filePath(QStringLiteral("v.pt")).toStdString();
    QVERIFY(writeTorchZip(file, dict).ok());
    const Checkpoint checkpoint = std::move(openCheckpoint(file)).value();
    const CheckpointDiff diff = diffCheckpoints(checkpoint, checkpoint);
    QCOMPARE(diff.keys.size(), std::size_t{1000});
    QCOMPARE(diff.keys.front().status, DiffStatus::Equal);
    QCOMPARE(diff.keys.back().status, DiffStatus::Unreadable);
    QVERIFY(diff.bytesRead < (std::uint64_t{256} << 20));
}

QTEST_APPLESS_MAIN(TestCkptDiff)
#include "tst_ckpt_diff.moc"
