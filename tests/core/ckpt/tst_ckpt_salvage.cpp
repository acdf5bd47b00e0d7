// Salvage: a file cut at every place, and the damaged files of the shared corpus.
#include "core/ckpt/diff.h"
#include "core/ckpt/open.h"
#include "core/ckpt/salvage.h"
#include "core/ckpt/zip_scan.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

using namespace lockstep;

namespace {

QString corpus()
{
    return QStringLiteral(LOCKSTEP_SHARED_DIR "/corpus");
}

std::vector<std::string> sorted(std::vector<std::string> names)
{
    std::sort(names.begin(), names.end());
    return names;
}

QByteArray readAll(const QString& path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("cannot read %s", qPrintable(path));
    return file.readAll();
}

void writeAll(const QString& path, const QByteArray& bytes)
{
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
        qFatal("cannot write %s", qPrintable(path));
}

QString writeModel(const QTemporaryDir& folder)
{
    static std::vector<std::vector<std::byte>> pool;
    SaveDict dict;
    for (int i = 0; i < 6; ++i) {
        pool.emplace_back(static_cast<std::size_t>(40 + 60 * i) * 4, static_cast<std::byte>(i + 1));
        dict.set("layer" + std::to_string(i), SaveTensor::dense(DType::Int32, {40 + 60 * i}, pool.back()));
    }
    dict.set("epoch", 4);
    const QString file = folder.filePath(QStringLiteral("whole.pt"));
    if (!writeTorchZip(file.toStdString(), dict).ok())
        qFatal("the file could not be written");
    return file;
}

} // namespace

class TestCkptSalvage : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void fileCutAnywhere();
    void savedTensorsAreThoseOfTheWholeFile();
    void damagedRecordIsLeftOut();
    void cutFilesOfTheCorpus();
    void nothingToSaveIsAnError();
    void descriptorInsideATensorIsNotBelieved();
};

void TestCkptSalvage::fileCutAnywhere()
{
    QTemporaryDir folder;
    const QByteArray whole = readAll(writeModel(folder));
    const ZipScan scan =
        scanLocalHeaders(std::as_bytes(std::span(whole.constData(), static_cast<std::size_t>(whole.size()))));
    const QString cut = folder.filePath(QStringLiteral("cut.pt"));
    for (qsizetype size = 1; size < whole.size(); size += 37) {
        writeAll(cut, whole.left(size));
        const SalvagePlan plan = planSalvage(cut.toStdString());
        std::vector<std::string> want;
        bool pickle = false;
        for (const ScannedRecord& record : scan.records) {
            const auto end = static_cast<qsizetype>(record.payload + record.size);
            if (record.name.ends_with("data.pkl"))
                pickle = end <= size;
            const std::size_t at = record.name.find("/data/");
            if (at != std::string::npos && record.name.find("serialization") == std::string::npos &&
                end <= size)
                want.push_back("layer" + record.name.substr(at + 6));
        }
        if (!pickle)
            want.clear();
        QVERIFY2(sorted(plan.keysWhole) == sorted(want), qPrintable(QStringLiteral("cut at %1").arg(size)));
        QCOMPARE(plan.keysWhole.size() + plan.keysLost.size(), std::size_t{pickle ? 6u : 0u});
    }
}

void TestCkptSalvage::savedTensorsAreThoseOfTheWholeFile()
{
    QTemporaryDir folder;
    const QString file = writeModel(folder);
    const QByteArray whole = readAll(file);
    const QString cut = folder.filePath(QStringLiteral("cut.pt")),
                  output = folder.filePath(QStringLiteral("saved.pt"));
    writeAll(cut, whole.left(whole.size() * 6 / 10));
    const auto report = salvage(cut.toStdString(), output.toStdString());
    QVERIFY2(report.ok(), report.ok() ? "" : report.error().sentence().c_str());
    const Checkpoint before = std::move(openCheckpoint(file.toStdString())).value();
    const Checkpoint after = std::move(openCheckpoint(output.toStdString())).value();
    QVERIFY(after.weightsOnly && !after.damaged());
    const CheckpointDiff diff = diffCheckpoints(before, after);
    const auto equal = std::count_if(diff.keys.begin(), diff.keys.end(),
                                     [](const KeyDiff& k) { return k.status == DiffStatus::Equal; });
    const auto lost = std::count_if(diff.keys.begin(), diff.keys.end(),
                                    [](const KeyDiff& k) { return k.status == DiffStatus::OnlyA; });
    QVERIFY(equal >= 2 && lost >= 1);
    QCOMPARE(static_cast<std::size_t>(equal + lost), diff.keys.size());
    QCOMPARE(after.rootValue().get("epoch").integer(), std::int64_t{4});
}

void TestCkptSalvage::damagedRecordIsLeftOut()
{
    QTemporaryDir folder;
    const QString file = writeModel(folder);
    QByteArray bytes = readAll(file);
    const ZipScan scan =
        scanLocalHeaders(std::as_bytes(std::span(bytes.constData(), static_cast<std::size_t>(bytes.size()))));
    const ScannedRecord* record = scan.find("archive/data/3");
    QVERIFY(record);
    const auto place = static_cast<qsizetype>(record->payload + 5);
    bytes[place] = static_cast<char>(bytes[place] ^ 1);
    writeAll(file, bytes);
    const SalvagePlan plan = planSalvage(file.toStdString());
    QCOMPARE(plan.keysLost, std::vector<std::string>{"layer3"});
    const QString output = folder.filePath(QStringLiteral("saved.pt"));
    QVERIFY(salvage(file.toStdString(), output.toStdString()).ok());
    const Checkpoint after = std::move(openCheckpoint(output.toStdString())).value();
    QVERIFY(after.rootValue().get("layer2").valid());
    QVERIFY(!after.rootValue().get("layer3").valid());
}

void TestCkptSalvage::cutFilesOfTheCorpus()
{
    QFile manifest(corpus() + QStringLiteral("/manifest.jsonl"));
    if (!manifest.open(QIODevice::ReadOnly))
        QSKIP("No shared corpus beside the source tree");
    int seen = 0;
    for (const QByteArray& line : manifest.readAll().split('\n')) {
        const QJsonObject entry = QJsonDocument::fromJson(line).object();
        if (!entry.contains(QStringLiteral("keys_whole")))
            continue;
        ++seen;
        const QString path = corpus() + QLatin1Char('/') + entry[QStringLiteral("path")].toString();
        const SalvagePlan plan = planSalvage(path.toStdString());
        for (const auto& [field, got] :
             {std::pair{"keys_whole", &plan.keysWhole}, std::pair{"records_whole", &plan.recordsWhole}}) {
            std::vector<std::string> want;
            for (const QJsonValue& name : entry[QLatin1String(field)].toArray())
                want.push_back(name.toString().toStdString());
            QVERIFY2(sorted(*got) == sorted(want),
                     qPrintable(path + QLatin1Char(' ') + QLatin1String(field)));
        }
    }
    QVERIFY(seen > 5);
}

void TestCkptSalvage::nothingToSaveIsAnError()
{
    QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("text.pt")),
                  output = folder.filePath(QStringLiteral("out.pt"));
    writeAll(file, "not a checkpoint");
    QVERIFY(planSalvage(file.toStdString()).keysWhole.empty());
    const auto report = salvage(file.toStdString(), output.toStdString());
    QVERIFY(!report.ok());
    QVERIFY(!QFile::exists(output));
    QVERIFY(!salvage(folder.filePath(QStringLiteral("absent.pt")).toStdString(), output.toStdString()).ok());
}

// A tensor may hold bytes that look like a data descriptor; only one that fits its distance and checksum counts.
void TestCkptSalvage::descriptorInsideATensorIsNotBelieved()
{
    QTemporaryDir folder;
    std::vector<std::byte> bytes(4000);
    for (std::size_t i = 0; i + 16 <= bytes.size(); i += 16) {
        const std::uint32_t fake[4] = {0x08074b50, 0x12345678, static_cast<std::uint32_t>(i),
                                       static_cast<std::uint32_t>(i)};
        std::memcpy(bytes.data() + i, fake, 16);
    }
    SaveDict dict;
    dict.set("w", SaveTensor::dense(DType::UInt8, {4000}, bytes));
    const QString file = folder.filePath(QStringLiteral("f.pt"));
    QVERIFY(writeTorchZip(file.toStdString(), dict).ok());
    const QByteArray whole = readAll(file);
    const ZipScan scan =
        scanLocalHeaders(std::as_bytes(std::span(whole.constData(), static_cast<std::size_t>(whole.size()))));
    const ScannedRecord* record = scan.find("archive/data/0");
    QVERIFY(record && record->whole);
    QCOMPARE(record->size, std::uint64_t{4000});
}

QTEST_APPLESS_MAIN(TestCkptSalvage)
#include "tst_ckpt_salvage.moc"
