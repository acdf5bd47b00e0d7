// Damaged files: cut ones, and single bits flipped at random in the bytes of tensors.
#include "core/ckpt/open.h"
#include "core/ckpt/walk.h"
#include "core/ckpt/zip_archive.h"
#include "tests/core/ckpt/verify_files.h"

#include <QFile>
#include <QFileInfo>
#include <QTest>

#include <random>

using namespace lockstep;
using namespace lockstep::test;

class TestCkptDamage : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void cutFileHasTheRowOfItsSize_data();
    void cutFileHasTheRowOfItsSize();
    // LOCKSTEP_CKPT_FLIPS=1000 for the full count.
    void singleBitFlipsAreFoundAndNamed();
    void recordsWithoutChecksumRaiseNoAlarm();
};

void TestCkptDamage::cutFileHasTheRowOfItsSize_data()
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

void TestCkptDamage::cutFileHasTheRowOfItsSize()
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

void TestCkptDamage::singleBitFlipsAreFoundAndNamed()
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

void TestCkptDamage::recordsWithoutChecksumRaiseNoAlarm()
{
    const QString file = corpus() + QStringLiteral("/extra/nocrc.pt");
    if (!QFile::exists(file))
        QSKIP("No shared corpus beside the source tree");
    const VerifyReport report = verifyFile(file);
    QVERIFY2(report.passed(), qPrintable(text(report)));
    QVERIFY(report.recordsWithoutCrc > 0);
}

QTEST_APPLESS_MAIN(TestCkptDamage)
#include "tst_ckpt_damage.moc"
