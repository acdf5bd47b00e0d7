#include "core/gates/id_list.h"

#include "core/gates/data_judge.h"
#include "core/sampling/samplers.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <fmt/format.h>

using namespace lockstep;

class TestIdList : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsEveryForm_data();
    void readsEveryForm();
    void readsOneFilePerRank();
    void namesFileLineAndColumn_data();
    void namesFileLineAndColumn();
    void aGigabyteLineIsAnError();
    void aMissingFileIsNotFound();
    void idsWithGapsAreNumberedThrough();
    void hashesAndDrawsReachTheJudge();
    void plantedFaultsAreFoundInLists_data();
    void plantedFaultsAreFoundInLists();
    void aCleanListOfAnUnknownSeedRaisesNoAlarm();
    void anOrderOfEpochZeroInEveryEpochIsSetEpoch_data();
    void anOrderOfEpochZeroInEveryEpochIsSetEpoch();
    void theIdsThemselvesShowWhetherTheyAreShuffled();

private:
    std::string write(const QByteArray& text, const QString& name = "ids.csv")
    {
        const QString path = folder_.filePath(name);
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
            qFatal("cannot write %s", qPrintable(path));
        return path.toStdString();
    }
    QTemporaryDir folder_;
};

namespace {

// "0: 5 6 | 7 8" per epoch: ranks separated by bars.
std::string dump(DataSource& source)
{
    std::string text;
    for (std::int64_t e = 0; e < source.facts().epochs; ++e) {
        const EpochOrder order = *source.load(e);
        text += fmt::format("{}{}:", text.empty() ? "" : "; ", order.epoch);
        for (std::size_t r = 0; r < order.ranks.size(); ++r) {
            text += r == 0 ? "" : " |";
            for (std::size_t p = 0; p < order.ranks[r].count; ++p)
                text += fmt::format(" {}", source.facts().originalId(order.ranks[r][p]));
        }
    }
    return text;
}

} // namespace

void TestIdList::readsEveryForm_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("csv") << QByteArray("0,0,0,5\n0,0,1,6\n0,1,0,7\n0,1,1,8\n");
    QTest::newRow("no last line feed") << QByteArray("0,0,0,5\n0,0,1,6\n0,1,0,7\n0,1,1,8");
    QTest::newRow("carriage returns") << QByteArray("0,0,0,5\r\n0,0,1,6\r\n0,1,0,7\r\n0,1,1,8\r\n");
    QTest::newRow("blanks") << QByteArray("0 0 0 5\n0 0 1   6\n0\t1\t0\t7\n  0 1 1 8\n");
    QTest::newRow("semicolons") << QByteArray("0;0;0;5\n0;0;1;6\n0; 1; 0; 7\n0;1;1;8\n");
    QTest::newRow("header") << QByteArray("epoch,rank,position,id\n0,0,0,5\n0,0,1,6\n0,1,0,7\n0,1,1,8\n");
    QTest::newRow("other order of columns")
        << QByteArray("sample_id,Rank,pos,note,epoch\n5,0,0,1,0\n6,0,1,1,0\n7,1,0,1,0\n8,1,1,1,0\n");
    QTest::newRow("interleaved") << QByteArray("0,0,0,5\n0,1,0,7\n0,0,1,6\n0,1,1,8\n");
    QTest::newRow("any order of rows") << QByteArray("0,1,1,8\n0,0,1,6\n0,0,0,5\n0,1,0,7\n");
    QTest::newRow("comments and empty lines")
        << QByteArray("# made by hand\n\n0,0,0,5\n0,0,1,6\n\n0,1,0,7\n0,1,1,8\n");
    QTest::newRow("byte order mark") << QByteArray("\xef\xbb\xbf"
                                                   "0,0,0,5\n0,0,1,6\n0,1,0,7\n0,1,1,8\n");
    QTest::newRow("json lines") << QByteArray(
        "{\"epoch\":0,\"rank\":0,\"position\":0,\"id\":5}\n{\"id\":6,\"epoch\":0,\"rank\":0,\"pos\":1}\n"
        "{\"epoch\":0,\"rank\":1,\"position\":0,\"id\":7,\"path\":\"a.png\",\"more\":{\"id\":[1,2]}}\n"
        "{\"epoch\":0,\"rank\":1,\"position\":1,\"id\":8}\n");
}

void TestIdList::readsEveryForm()
{
    QFETCH(QByteArray, text);
    auto source = importIdLists({write(text)});
    QVERIFY2(source.ok(), source.ok() ? "" : source.error().sentence().c_str());
    QCOMPARE(dump(**source), std::string("0: 5 6 | 7 8"));
    QCOMPARE((*source)->facts().datasetSize, std::int64_t(9));
    QVERIFY(!(*source)->facts().sizeKnown);
}

void TestIdList::readsOneFilePerRank()
{
    auto source = importIdLists(
        {write("0,0,0,1\n1,0,0,2\n", "r0.csv"), write("0,1,0,2\n1,1,0,1\n", "r1.csv")}, {3, true});
    QVERIFY(source.ok());
    QCOMPARE(dump(**source), std::string("0: 1 | 2; 1: 2 | 1"));
    QCOMPARE((*source)->facts().datasetSize, std::int64_t(3));
}

void TestIdList::namesFileLineAndColumn_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("place");
    QTest::addColumn<QString>("why");
    const auto row = [](const char* name, const char* text, const char* place, const char* why) {
        QTest::newRow(name) << QByteArray(text) << QString(place) << QString(why);
    };
    row("empty file", "", "line 1, column 1", "no rows");
    row("comments only", "# nothing\n\n", "line 2, column 1", "no rows");
    row("header only", "epoch,rank,position,id\n", "line 1, column 1", "no rows");
    row("negative id", "0,0,0,1\n0,0,1,-7\n", "line 2, column 7", "sample id \"-7\" is negative");
    row("negative rank", "0,-1,0,1\n", "line 1, column 3", "rank \"-1\" is negative");
    row("not a number", "0,0,0,1\n0,0,1,abc\n", "line 2, column 7", "\"abc\" is not a whole number");
    row("fraction", "0,0,0,1.5\n", "line 1, column 7", "\"1.5\" is not a whole number");
    row("too large", "0,0,0,99999999999999999999\n", "line 1, column 7", "too large");
    row("too few fields", "0,0,0,1\n0,0,1\n", "line 2, column 6", "ends after 3");
    row("too many fields", "0,0,0,1\n0,0,1,2,3,4\n", "line 2, column 11", "follows the last field");
    row("empty field", "0,,0,1\n", "line 1, column 3", "not a whole number");
    row("binary", "0,0,0,1\n\x01\x02\x03\n", "line 2, column 1", "not a whole number");
    row("position twice", "0,0,0,1\n0,0,1,2\n0,0,1,3\n", "line 3, column 5", "given before");
    row("position missing", "0,0,0,1\n0,0,2,2\n0,0,3,3\n", "line 1, column 3", "position 1 is missing");
    row("position beyond any file", "0,0,0,1\n0,0,4000000000,2\n", "line 2, column 5",
        "beyond the number of rows");
    row("missing rank", "0,0,0,1\n0,2,0,2\n", "line 1, column 3", "none of rank 1");
    row("mixed epochs", "0,0,0,1\n0,1,0,2\n1,0,0,3\n", "line 3, column 3",
        "epoch 1 has rows of rank 0, but none of rank 1");
    row("epoch missing", "0,0,0,1\n2,0,0,1\n", "line 2, column 1", "the epochs between are missing");
    row("huge rank", "0,4000000000,0,1\n", "line 1, column 3", "above 65535");
    row("ranks beyond any file", "0,65535,0,1\n", "line 1, column 3", "beyond the number of rows");
    row("unknown header", "a,b,c\n1,2,3\n", "line 1, column 1", "names columns");
    row("column twice", "epoch,rank,position,id,id\n", "line 1, column 24", "comes twice");
    row("json broken", "{\"epoch\":0,\"rank\":0,\"position\":0,\"id\":1}\n{\"epoch\":0,\n",
        "line 2, column 12", "");
    row("json text id", "{\"epoch\":0,\"rank\":0,\"position\":0,\"id\":\"x\"}\n", "line 1, column 42",
        "not a whole number");
    row("json negative", "{\"epoch\":0,\"rank\":0,\"position\":0,\"id\":-1}\n", "line 1, column 41",
        "negative");
    row("json incomplete", "{\"epoch\":0,\"rank\":0,\"id\":1}\n", "line 1, column 28", "lacks");
    row("json array", "{\"epoch\":0,\"rank\":0,\"position\":0,\"id\":1}\n[1]\n", "line 2, column 1",
        "not an object");
    row("hash for some", "epoch,rank,position,id,hash\n0,0,0,1,7\n0,0,1,2,\n", "line 2, column 3",
        "only some rows have a hash");
}

void TestIdList::namesFileLineAndColumn()
{
    QFETCH(QByteArray, text);
    QFETCH(QString, place);
    QFETCH(QString, why);
    const auto source = importIdLists({write(text)});
    QVERIFY(!source.ok());
    QVERIFY(source.error().kind == ErrorKind::Input);
    const QString sentence = QString::fromStdString(source.error().sentence());
    QVERIFY2(sentence.contains("ids.csv"), qPrintable(sentence));
    QVERIFY2(sentence.contains(place + ':', Qt::CaseInsensitive), qPrintable(sentence));
    QVERIFY2(sentence.contains(why, Qt::CaseInsensitive), qPrintable(sentence));
}

void TestIdList::aGigabyteLineIsAnError()
{
    const std::string path = write("0,0,0,1\n");
    QFile file(QString::fromStdString(path));
    QVERIFY(file.resize(qint64(1) << 30)); // a sparse line of zero bytes
    const auto source = importIdLists({path});
    QVERIFY(!source.ok());
    QVERIFY2(source.error().why.find("line 2") != std::string::npos, source.error().why.c_str());
    file.remove();
}

void TestIdList::aMissingFileIsNotFound()
{
    const auto source = importIdLists({folder_.filePath("absent.csv").toStdString()});
    QVERIFY(!source.ok() && source.error().kind == ErrorKind::NotFound);
    const auto folder = importIdLists({folder_.path().toStdString()});
    QVERIFY(!folder.ok() && folder.error().kind == ErrorKind::Input);
}

void TestIdList::idsWithGapsAreNumberedThrough()
{
    auto source = importIdLists({write("0,0,0,5000000000\n0,0,1,7\n0,1,0,9000000000000000000\n0,1,1,8\n")});
    QVERIFY(source.ok());
    QCOMPARE(dump(**source), std::string("0: 5000000000 7 | 9000000000000000000 8"));
    QCOMPARE((*source)->facts().datasetSize, std::int64_t(4));
}

void TestIdList::hashesAndDrawsReachTheJudge()
{
    // Rank 1 brings other content for id 0 than rank 0 did, and its worker draws what rank 0's worker drew.
    QByteArray text = "epoch,rank,position,id,hash,worker,draw\n";
    text += "0,0,0,0,0xaa,0,17\n0,1,0,1,0xbb,0,17\n1,0,0,1,0xbb,0,18\n1,1,0,0,0xcc,0,19\n";
    auto source = importIdLists({write(text)});
    QVERIFY2(source.ok(), source.ok() ? "" : source.error().sentence().c_str());
    QCOMPARE((*source)->facts().draws.size(), std::size_t(2));
    DataPlan plan;
    plan.datasetSize = 2;
    plan.world = 2;
    plan.samplerSeedKnown = false;
    const DataVerdict verdict = *judgeData(**source, plan);
    std::string causes;
    for (const DataFinding& f : verdict.findings)
        if (!f.note)
            causes += f.cause + " ";
    QCOMPARE(causes, std::string("A7 A8 "));
}

namespace {

// What a user's own sampler would have written: the ids of a plan with a planted fault.
QByteArray listOf(const DataPlan& plan, bool withContents, bool withDraws, bool withSteps)
{
    QByteArray text = "epoch,rank,position,id";
    text += withContents ? ",hash" : "";
    text += withDraws ? ",worker,draw" : "";
    text += withSteps ? ",step\n" : "\n";
    const std::vector<StreamDraw> draws = simulateDraws(plan);
    std::int64_t firstStep = 1;
    for (std::int64_t e = 0; e < plan.epochs; ++e) {
        const EpochOrder order = simulateEpoch(plan, e, withContents);
        const std::int64_t perStep = effectiveBatch(plan) * plan.accumulate;
        for (std::size_t r = 0; r < order.ranks.size(); ++r)
            for (std::size_t p = 0; p < order.ranks[r].count; ++p) {
                text += QByteArray::number(qint64(e)) + ',' + QByteArray::number(qint64(r)) + ',' +
                        QByteArray::number(qint64(p)) + ',' + QByteArray::number(order.ranks[r][p]);
                if (withContents)
                    text += ",0x" + QByteArray::number(quint64(order.ranks[r].content(p)), 16);
                if (withDraws) {
                    // Workers of a rank take turns; -1 stands for the rank's own generator.
                    const int worker = int(p % 3) - 1;
                    for (const StreamDraw& d : draws)
                        if (d.rank == int(r) && d.worker == worker)
                            text +=
                                ',' + QByteArray::number(worker) + ',' + QByteArray::number(quint64(d.value));
                }
                if (withSteps)
                    text += ',' + QByteArray::number(qint64(firstStep + std::int64_t(p) / perStep));
                text += '\n';
            }
        firstStep += (std::int64_t(order.ranks.front().count) + perStep - 1) / perStep;
    }
    return text;
}

} // namespace

void TestIdList::plantedFaultsAreFoundInLists_data()
{
    QTest::addColumn<QString>("cause");
    QTest::addColumn<int>("world");
    QTest::addColumn<bool>("seedKnown");
    for (const int world : {2, 3, 4, 8})
        for (const bool seedKnown : {true, false})
            for (const char* cause :
                 {"A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8", "A9", "A10", "E6", "F7", "F9"})
                QTest::addRow("%s-w%d%s", cause, world, seedKnown ? "" : "-seed-unknown")
                    << QString(cause) << world << seedKnown;
}

void TestIdList::plantedFaultsAreFoundInLists()
{
    QFETCH(QString, cause);
    QFETCH(int, world);
    QFETCH(bool, seedKnown);
    const std::string id = cause.toStdString();
    DataPlan plan;
    plan.datasetSize = 203;
    plan.world = world;
    plan.batch = 8;
    plan.epochs = 3;
    plan.evaluation = id == "F9";
    plan.referenceBatch = id == "A9" ? 8 : 0; // kept on every rank
    plan.batch = id == "A9" ? 8 / world + 1 : 8;
    DataPlan planted = plan;
    planted.faults.push_back({id, {}});
    const std::string path = write(listOf(planted, id == "A7", id == "A8" || id == "E6", id == "A9"));
    auto source = importIdLists({path}, {203, id != "A2"});
    QVERIFY2(source.ok(), source.ok() ? "" : source.error().sentence().c_str());
    plan.samplerSeedKnown = seedKnown;
    const DataVerdict verdict = *judgeData(**source, plan);
    std::string causes;
    const DataFinding* found = nullptr;
    for (const DataFinding& f : verdict.findings) {
        if (!f.note)
            causes += f.cause + " ";
        if (f.cause == id)
            found = &f;
    }
    QVERIFY2(found, causes.c_str());
    if (id == "A5")
        return;
    QCOMPARE(causes, id + " ");
    QCOMPARE(verdict.verdict, std::string("fail"));
    const std::int64_t perEpoch = (203 + 8 * world - 1) / (8 * world);
    if (id == "A3")
        QCOMPARE(found->step, perEpoch + 1);
    else if (id == "F7")
        QCOMPARE(found->step, perEpoch + perEpoch / 2 + 1);
    else if (id == "F9")
        QCOMPARE(found->step, perEpoch);
    else if (id == "A6")
        QCOMPARE(found->step, (203 / world + 7) / 8);
    else
        QVERIFY2(found->step >= 1 && found->step <= 2, fmt::format("step {}", found->step).c_str());
}

void TestIdList::aCleanListOfAnUnknownSeedRaisesNoAlarm()
{
    DataPlan plan;
    plan.datasetSize = 500;
    plan.world = 4;
    plan.samplerSeed = 991;
    auto source = importIdLists({write(listOf(plan, true, true, true))}, {500, true});
    QVERIFY2(source.ok(), source.ok() ? "" : source.error().sentence().c_str());
    plan.samplerSeed = 0;
    plan.samplerSeedKnown = false;
    const DataVerdict verdict = *judgeData(**source, plan);
    for (const GateCheck& check : verdict.checks)
        QVERIFY2(check.verdict != "fail", (check.id + ": " + check.sentence).c_str());
    QCOMPARE(verdict.verdict, std::string("pass"));
}

void TestIdList::anOrderOfEpochZeroInEveryEpochIsSetEpoch_data()
{
    QTest::addColumn<bool>("seedKnown");
    QTest::addColumn<int>("firstEpoch");
    for (const bool known : {true, false})
        for (const int first : {0, 3})
            QTest::addRow("%s-from-%d", known ? "seed-known" : "seed-unknown", first) << known << first;
}

void TestIdList::anOrderOfEpochZeroInEveryEpochIsSetEpoch()
{
    QFETCH(bool, seedKnown);
    QFETCH(int, firstEpoch);
    DataPlan plan;
    plan.datasetSize = 1000;
    plan.world = 2;
    plan.samplerSeed = 5;
    const EpochOrder order = simulateEpoch(plan, 0);
    QByteArray text;
    for (int epoch = firstEpoch; epoch < firstEpoch + 2; ++epoch)
        for (std::size_t r = 0; r < order.ranks.size(); ++r)
            for (std::size_t p = 0; p < order.ranks[r].count; ++p)
                text += QByteArray::number(epoch) + ',' + QByteArray::number(qint64(r)) + ',' +
                        QByteArray::number(qint64(p)) + ',' + QByteArray::number(order.ranks[r][p]) + '\n';
    auto source = importIdLists({write(text)}, {1000, true});
    QVERIFY2(source.ok(), source.ok() ? "" : source.error().sentence().c_str());
    QVERIFY(*isShuffled(**source));
    plan.samplerSeedKnown = seedKnown;
    const DataVerdict verdict = *judgeData(**source, plan);
    QCOMPARE(verdict.verdict, std::string("fail"));
    for (const DataFinding& f : verdict.findings)
        QVERIFY2(f.note || f.cause == "A3", f.sentence.c_str());
    for (const GateCheck& check : verdict.checks) {
        if (check.id == "data.set_epoch" || (check.id == "data.order" && seedKnown)) {
            QCOMPARE(check.verdict, std::string("fail"));
            QCOMPARE(check.cause, std::string("A3"));
        } else if (check.id == "data.order") {
            QCOMPARE(check.verdict, std::string("cannot_judge"));
        } else {
            QVERIFY2(check.verdict != "fail", check.id.c_str());
        }
    }
}

void TestIdList::theIdsThemselvesShowWhetherTheyAreShuffled()
{
    DataPlan plan;
    plan.datasetSize = 203;
    plan.world = 4;
    plan.shuffle = false;
    plan.samplerSeedKnown = false;
    auto source = importIdLists({write(listOf(plan, false, false, false))}, {203, true});
    QVERIFY2(source.ok(), source.ok() ? "" : source.error().sentence().c_str());
    QVERIFY(!*isShuffled(**source));
    QCOMPARE(judgeData(**source, plan)->verdict, std::string("pass"));
    plan.shuffle = true;
    auto shuffled = importIdLists({write(listOf(plan, false, false, false))}, {203, true});
    QVERIFY2(shuffled.ok(), shuffled.ok() ? "" : shuffled.error().sentence().c_str());
    QVERIFY(*isShuffled(**shuffled));
}

QTEST_GUILESS_MAIN(TestIdList)
#include "tst_id_list.moc"
