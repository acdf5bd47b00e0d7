// Findings: the shared corpus and its catalogue, files made here with wrappers in any nesting, and random bit flips.
#include "core/ckpt/catalogue.h"
#include "core/ckpt/open.h"
#include "core/ckpt/torch_zip_writer.h"
#include "core/ckpt/verify.h"
#include "core/ckpt/walk.h"
#include "core/ckpt/zip_archive.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>
#include <random>
#include <set>

using namespace lockstep;

namespace {

QString corpus()
{
    return QStringLiteral(LOCKSTEP_SHARED_DIR "/corpus");
}

QSet<QString> rows(const QJsonValue& list)
{
    QSet<QString> result;
    for (const QJsonValue& row : list.toArray())
        result << (row.isDouble() ? QString::number(row.toInt()) : row.toString());
    return result;
}

// Rows that say a file is damaged; the others may be information on a sound one.
bool isDamage(const QString& row)
{
    static const QSet<QString> named = {QStringLiteral("N1"), QStringLiteral("N3"), QStringLiteral("N4")};
    const int number = row.toInt();
    return named.contains(row) || (number >= 16 && number <= 29) || (number >= 36 && number <= 40);
}

VerifyReport verifyFile(const QString& path, const QString& target = {})
{
    std::optional<Target> against;
    if (!target.isEmpty())
        against = std::move(readTarget(target.toStdString())).value();
    return std::move(verifyCheckpoint(path.toStdString(), against ? &*against : nullptr)).value();
}

QString text(const VerifyReport& report)
{
    QString all;
    for (const Verdict& verdict : report.verdicts) {
        all += QString::fromStdString("[" + verdict.row + "] " + verdict.sentence + " " + verdict.key + " ");
        for (const std::string& line : verdict.evidence)
            all += QString::fromStdString(line) + QLatin1Char(' ');
    }
    return all;
}

std::set<std::string> rowsOf(const VerifyReport& report)
{
    std::set<std::string> result;
    for (const Verdict& verdict : report.verdicts)
        result.insert(verdict.row);
    return result;
}

const std::vector<std::string> kPlainKeys = {"stem.weight", "stem.bias", "blocks.0.fc.weight",
                                             "blocks.1.fc.weight", "head.weight"};

// A checkpoint with these keys, each a [2, 2] tensor.
QString writeKeys(const QTemporaryDir& folder, const std::vector<std::string>& keys)
{
    static const std::array<float, 4> values = {1, 2, 3, 4};
    SaveDict dict;
    for (const std::string& key : keys)
        dict.set(key, SaveTensor::dense(DType::Float32, {2, 2}, std::as_bytes(std::span(values))));
    const QString file = folder.filePath(QStringLiteral("ckpt.pt"));
    TorchZipOptions options;
    options.durable = false;
    if (!writeTorchZip(file.toStdString(), dict, options).ok())
        qFatal("the file could not be written");
    return file;
}

Target targetOf(const std::vector<std::string>& keys)
{
    Target target;
    for (const std::string& key : keys)
        target.model.emplace_back(key, Target::Shape{2, 2});
    return target;
}

std::vector<std::string> prefixed(const std::string& prefix)
{
    std::vector<std::string> keys;
    for (const std::string& key : kPlainKeys)
        keys.push_back(prefix + key);
    return keys;
}

} // namespace

class TestCkptVerdict : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void filesOfTheCorpus_data();
    void filesOfTheCorpus();
    void casesOfTheCatalogue_data();
    void casesOfTheCatalogue();
    void catalogueIsComplete();
    void wrappersInFront_data();
    void wrappersInFront();
    void wrappersInside_data();
    void wrappersInside();
    void wrappedModelAndPlainFile();
    void unrelatedKeysAreNotExplainedByAWrapper();
    void sameKeysGiveNoFinding();
    void aScalerIsMissedOnlyByRunsThatScale();
    void cutFileHasTheRowOfItsSize_data();
    void cutFileHasTheRowOfItsSize();
    // LOCKSTEP_CKPT_FLIPS=1000 for the full count.
    void singleBitFlipsAreFoundAndNamed();
    void recordsWithoutChecksumRaiseNoAlarm();
};

void TestCkptVerdict::filesOfTheCorpus_data()
{
    QTest::addColumn<QJsonObject>("entry");
    QFile file(corpus() + QStringLiteral("/manifest.jsonl"));
    if (!file.open(QIODevice::ReadOnly)) {
        QTest::newRow("no corpus") << QJsonObject();
        return;
    }
    for (const QByteArray& line : file.readAll().split('\n')) {
        QJsonObject entry = QJsonDocument::fromJson(line).object();
        const QString path = entry[QStringLiteral("path")].toString();
        entry.remove(QStringLiteral("entries"));
        if (!path.isEmpty() && !path.startsWith(QStringLiteral("catalogue/")))
            QTest::newRow(qPrintable(path)) << entry;
    }
}

void TestCkptVerdict::filesOfTheCorpus()
{
    QFETCH(QJsonObject, entry);
    if (entry.isEmpty())
        QSKIP("No shared corpus beside the source tree");
    const VerifyReport report =
        verifyFile(corpus() + QLatin1Char('/') + entry[QStringLiteral("path")].toString());
    QSet<QString> got;
    for (const std::string& row : rowsOf(report))
        if (isDamage(QString::fromStdString(row)))
            got << QString::fromStdString(row);
    const QSet<QString> want = rows(entry[QStringLiteral("verdict")]),
                        also = rows(entry[QStringLiteral("also_ok")]);
    if (want.isEmpty()) {
        QVERIFY2(got.isEmpty(), qPrintable(text(report)));
        return;
    }
    if (got.isEmpty() && also.contains(QStringLiteral("ok")))
        return;
    QVERIFY2(got.intersects(want + also), qPrintable(text(report)));
    QVERIFY2((got - want - also).isEmpty(), qPrintable(text(report)));
    for (const QJsonValue& key : entry[QStringLiteral("bad_keys")].toArray())
        QVERIFY2(text(report).contains(key.toString()), qPrintable(key.toString()));
    for (const QJsonValue& word : entry[QStringLiteral("says")].toArray())
        QVERIFY2(text(report).contains(word.toString()), qPrintable(word.toString()));
}

void TestCkptVerdict::casesOfTheCatalogue_data()
{
    QTest::addColumn<QJsonObject>("entry");
    QFile file(corpus() + QStringLiteral("/catalogue/cases.json"));
    if (!file.open(QIODevice::ReadOnly)) {
        QTest::newRow("no corpus") << QJsonObject();
        return;
    }
    const QJsonArray cases = QJsonDocument::fromJson(file.readAll()).array();
    for (const QJsonValue& value : cases) {
        const QJsonObject entry = value.toObject();
        QTest::newRow(qPrintable(entry[QStringLiteral("checkpoint")].toString())) << entry;
    }
}

void TestCkptVerdict::casesOfTheCatalogue()
{
    QFETCH(QJsonObject, entry);
    if (entry.isEmpty())
        QSKIP("No shared corpus beside the source tree");
    const QString target = entry[QStringLiteral("target")].toString();
    const VerifyReport report =
        verifyFile(corpus() + QLatin1Char('/') + entry[QStringLiteral("checkpoint")].toString(),
                   target.isEmpty() ? QString() : corpus() + QLatin1Char('/') + target);
    const int row = entry[QStringLiteral("row")].toInt();
    if (row == 0)
        QVERIFY2(report.verdicts.empty(), qPrintable(text(report)));
    else
        QVERIFY2(rowsOf(report).contains(std::to_string(row)), qPrintable(text(report)));
    for (const Verdict& verdict : report.verdicts) {
        QVERIFY(!verdict.sentence.empty());
        QVERIFY(!verdict.fix.empty());
    }
}

void TestCkptVerdict::catalogueIsComplete()
{
    std::set<std::string_view> seen;
    for (const CatalogueRow& row : catalogue()) {
        QVERIFY2(seen.insert(row.row).second, row.row.data());
        QVERIFY(!row.name.empty() && !row.cause.empty() && !row.fix.empty());
    }
    for (int row = 1; row <= 48; ++row)
        QVERIFY2(catalogueRow(std::to_string(row)), qPrintable(QString::number(row)));
}

void TestCkptVerdict::wrappersInFront_data()
{
    QTest::addColumn<QString>("prefix");
    QTest::addColumn<QString>("row");
    QTest::newRow("ddp") << QStringLiteral("module.") << QStringLiteral("1");
    QTest::newRow("ddp three times") << QStringLiteral("module.module.module.") << QStringLiteral("1");
    QTest::newRow("fsdp") << QStringLiteral("_fsdp_wrapped_module.") << QStringLiteral("1");
    QTest::newRow("ddp in fsdp") << QStringLiteral("_fsdp_wrapped_module.module.") << QStringLiteral("1");
    QTest::newRow("compile") << QStringLiteral("_orig_mod.") << QStringLiteral("4");
    QTest::newRow("compile in ddp") << QStringLiteral("module._orig_mod.") << QStringLiteral("4");
    QTest::newRow("ddp in compile") << QStringLiteral("_orig_mod.module.") << QStringLiteral("4");
    QTest::newRow("fabric") << QStringLiteral("_forward_module.") << QStringLiteral("1");
    QTest::newRow("lightning") << QStringLiteral("model.") << QStringLiteral("8");
    QTest::newRow("lightning compiled") << QStringLiteral("model._orig_mod.") << QStringLiteral("4");
    QTest::newRow("other attribute") << QStringLiteral("network.") << QStringLiteral("8");
}

void TestCkptVerdict::wrappersInFront()
{
    QFETCH(QString, prefix);
    QFETCH(QString, row);
    QTemporaryDir folder;
    const QString file = writeKeys(folder, prefixed(prefix.toStdString()));
    const Target target = targetOf(kPlainKeys);
    const VerifyReport report = std::move(verifyCheckpoint(file.toStdString(), &target)).value();
    QCOMPARE(report.verdicts.size(), std::size_t{1});
    QCOMPARE(QString::fromStdString(report.verdicts[0].row), row);
    QVERIFY(report.verdicts[0].sentence.find(prefix.toStdString()) != std::string::npos);
    QVERIFY(report.verdicts[0].errorText.find("Missing key(s) in state_dict: \"stem.weight\"") !=
            std::string::npos);
}

void TestCkptVerdict::wrappersInside_data()
{
    QTest::addColumn<QString>("blocks");
    QTest::addColumn<QString>("row");
    QTest::newRow("ddp") << QStringLiteral("blocks.module.") << QStringLiteral("3");
    QTest::newRow("compile") << QStringLiteral("blocks._orig_mod.") << QStringLiteral("4");
    QTest::newRow("checkpointing") << QStringLiteral("blocks._checkpoint_wrapped_module.")
                                   << QStringLiteral("4");
}

void TestCkptVerdict::wrappersInside()
{
    QFETCH(QString, blocks);
    QFETCH(QString, row);
    std::vector<std::string> keys;
    for (const std::string& key : kPlainKeys)
        keys.push_back(key.starts_with("blocks.") ? blocks.toStdString() + key.substr(7) : key);
    QTemporaryDir folder;
    const Target target = targetOf(kPlainKeys);
    const VerifyReport report =
        std::move(verifyCheckpoint(writeKeys(folder, keys).toStdString(), &target)).value();
    QCOMPARE(report.verdicts.size(), std::size_t{1});
    QCOMPARE(QString::fromStdString(report.verdicts[0].row), row);
    QCOMPARE(report.verdicts[0].evidence.size(), std::size_t{2});
}

void TestCkptVerdict::wrappedModelAndPlainFile()
{
    QTemporaryDir folder;
    const Target target = targetOf(prefixed("module."));
    const VerifyReport report =
        std::move(verifyCheckpoint(writeKeys(folder, kPlainKeys).toStdString(), &target)).value();
    QCOMPARE(rowsOf(report), std::set<std::string>{"2"});
}

void TestCkptVerdict::unrelatedKeysAreNotExplainedByAWrapper()
{
    QTemporaryDir folder;
    const Target target = targetOf({"encoder.weight", "encoder.bias"});
    const VerifyReport report =
        std::move(verifyCheckpoint(writeKeys(folder, kPlainKeys).toStdString(), &target)).value();
    QCOMPARE(rowsOf(report), std::set<std::string>{"N2"});
}

void TestCkptVerdict::sameKeysGiveNoFinding()
{
    QTemporaryDir folder;
    for (const std::vector<std::string>& keys :
         {kPlainKeys, prefixed("module."), prefixed("_orig_mod."), prefixed("a.module.")}) {
        const Target target = targetOf(keys);
        const VerifyReport report =
            std::move(verifyCheckpoint(writeKeys(folder, keys).toStdString(), &target)).value();
        QVERIFY2(report.verdicts.empty(), qPrintable(text(report)));
    }
}

void TestCkptVerdict::aScalerIsMissedOnlyByRunsThatScale()
{
    QTemporaryDir folder;
    const std::string file = writeKeys(folder, kPlainKeys).toStdString();
    const auto missed = [&](const Target* target, const char* part) {
        const VerifyReport report = std::move(verifyCheckpoint(file, target)).value();
        for (const ResumeItem& item : report.resume)
            if (item.part == part)
                return !item.present && item.needed;
        return false;
    };
    QVERIFY(!missed(nullptr, "scaler"));
    QVERIFY(!missed(nullptr, "scheduler"));
    QVERIFY(missed(nullptr, "optimizer"));
    Target target = targetOf(kPlainKeys);
    target.resume = true;
    target.amp = "bf16";
    QVERIFY(!missed(&target, "scaler"));
    target.amp = "fp16";
    QVERIFY(missed(&target, "scaler"));
}

void TestCkptVerdict::cutFileHasTheRowOfItsSize_data()
{
    QTest::addColumn<qint64>("size");
    QTest::addColumn<QString>("row");
    QTest::addColumn<bool>("wholeBlocks");
    QTest::newRow("below 4 KiB") << qint64{3000} << "16" << false;
    QTest::newRow("4 KiB") << qint64{4096} << "16" << true;
    QTest::newRow("20,000 bytes") << qint64{20000} << "17" << false;
    QTest::newRow("64 KiB") << qint64{65536} << "17" << true;
    QTest::newRow("above 64 KiB") << qint64{65537} << "16" << false;
}

void TestCkptVerdict::cutFileHasTheRowOfItsSize()
{
    QFETCH(qint64, size);
    QFETCH(QString, row);
    QFETCH(bool, wholeBlocks);
    QTemporaryDir folder;
    std::vector<std::string> keys;
    for (int i = 0; i < 1000; ++i)
        keys.push_back("layer" + std::to_string(i) + ".weight");
    const QString file = writeKeys(folder, keys);
    QVERIFY(QFileInfo(file).size() > size);
    QVERIFY(QFile::resize(file, size));
    const VerifyReport report = verifyFile(file);
    QCOMPARE(rowsOf(report), std::set<std::string>{row.toStdString()});
    QCOMPARE(!report.verdicts[0].evidence.empty(), wholeBlocks);
}

namespace {

// A file with tied, transposed and sliced tensors of random sizes and bytes.
QString writeRandom(const QTemporaryDir& folder, std::mt19937_64& random,
                    std::vector<std::vector<std::byte>>& pool)
{
    SaveDict model;
    pool.clear();
    pool.reserve(32);
    const int count = 3 + static_cast<int>(random() % 10);
    for (int i = 0; i < count; ++i) {
        const std::int64_t rows = 1 + static_cast<std::int64_t>(random() % 20),
                           columns = 1 + static_cast<std::int64_t>(random() % 40);
        std::vector<std::byte> bytes(static_cast<std::size_t>(rows * columns) * 4);
        for (std::byte& b : bytes)
            b = static_cast<std::byte>(random());
        pool.push_back(std::move(bytes));
        SaveTensor tensor = SaveTensor::dense(DType::Float32, {rows, columns}, pool.back());
        model.set("layer" + std::to_string(i) + ".weight", tensor);
        if (random() % 4 == 0) {
            std::swap(tensor.shape[0], tensor.shape[1]);
            std::swap(tensor.stride[0], tensor.stride[1]);
            model.set("tied" + std::to_string(i) + ".weight", tensor);
        }
    }
    SaveDict root;
    root.set("model", model);
    root.set("epoch", 3);
    const QString file = folder.filePath(QStringLiteral("random.pt"));
    TorchZipOptions options;
    options.durable = false;
    if (!writeTorchZip(file.toStdString(), root, options).ok())
        qFatal("the file could not be written");
    return file;
}

} // namespace

void TestCkptVerdict::singleBitFlipsAreFoundAndNamed()
{
    const int wanted = qEnvironmentVariableIsSet("LOCKSTEP_CKPT_FLIPS")
                           ? qEnvironmentVariableIntValue("LOCKSTEP_CKPT_FLIPS")
                           : 100;
    QTemporaryDir folder;
    std::mt19937_64 random(77);
    std::vector<std::vector<std::byte>> pool;
    for (int round = 0; round < wanted; ++round) {
        const QString path = writeRandom(folder, random, pool);
        QVERIFY2(verifyFile(path).passed(), "the file is sound before the flip");
        std::uint64_t position = 0;
        std::set<std::string> keys;
        {
            const Checkpoint checkpoint = std::move(openCheckpoint(path.toStdString())).value();
            const std::uint32_t storage = static_cast<std::uint32_t>(random() % checkpoint.storages.size());
            const StorageInfo& info = checkpoint.storages[storage];
            const ZipArchive& archive = *checkpoint.archives[info.archive];
            const auto payload = archive.payload(info.record);
            QVERIFY(payload.ok());
            position = static_cast<std::uint64_t>(payload->data() - archive.file()->bytes().data()) +
                       random() % payload->size();
            for (const TensorLeaf& leaf : listTensors(checkpoint))
                if (leaf.tensor->storage == storage)
                    keys.insert(leaf.name);
        }
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadWrite));
        QVERIFY(file.seek(static_cast<qint64>(position)));
        char byte = 0;
        QCOMPARE(file.read(&byte, 1), 1);
        byte = static_cast<char>(byte ^ (1 << (random() % 8)));
        QVERIFY(file.seek(static_cast<qint64>(position)));
        QCOMPARE(file.write(&byte, 1), 1);
        file.close();

        const VerifyReport report = verifyFile(path);
        QCOMPARE(report.verdicts.empty(), false);
        std::set<std::string> named;
        for (const Verdict& verdict : report.verdicts) {
            if (verdict.row != "24")
                continue;
            named.insert(verdict.evidence.begin(), verdict.evidence.end());
        }
        QCOMPARE(named, keys);
    }
}

void TestCkptVerdict::recordsWithoutChecksumRaiseNoAlarm()
{
    const QString file = corpus() + QStringLiteral("/extra/nocrc.pt");
    if (!QFile::exists(file))
        QSKIP("No shared corpus beside the source tree");
    const VerifyReport report = verifyFile(file);
    QVERIFY2(report.passed(), qPrintable(text(report)));
    QVERIFY(report.recordsWithoutCrc > 0);
}

QTEST_APPLESS_MAIN(TestCkptVerdict)
#include "tst_ckpt_verdict.moc"
