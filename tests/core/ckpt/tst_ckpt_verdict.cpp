// Findings: the shared corpus and its catalogue, and files made here with wrappers in any nesting.
#include "core/ckpt/catalogue.h"
#include "core/ckpt/open.h"
#include "tests/core/ckpt/verify_files.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>
#include <set>

using namespace lockstep;
using namespace lockstep::test;

namespace {

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

const std::vector<std::string> kPlainKeys = {"stem.weight", "stem.bias", "blocks.0.fc.weight",
                                             "blocks.1.fc.weight", "head.weight"};

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

QTEST_APPLESS_MAIN(TestCkptVerdict)
#include "tst_ckpt_verdict.moc"
