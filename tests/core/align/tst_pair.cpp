#include "core/align/pair.h"

#include "support/trace_dsl.h"

#include <QtTest>

using namespace lockstep;

namespace {

std::string pairs(const std::string& a, const std::string& b, PairBy by)
{
    QTemporaryDir dir;
    const auto runA = test::writeTrace(dir.filePath(QStringLiteral("a")).toStdString(), a);
    const auto runB = test::writeTrace(dir.filePath(QStringLiteral("b")).toStdString(), b);
    RunReader readerA = *RunReader::open(runA.folder);
    RunReader readerB = *RunReader::open(runB.folder);
    const Result<std::vector<StepPair>> found = pairSteps(readerA, readerB, by);
    if (!found.ok())
        return found.error().sentence();
    std::string text;
    for (const StepPair& pair : *found)
        text += (text.empty() ? "" : " ") + std::to_string(pair.a) + "-" + std::to_string(pair.b);
    return text;
}

} // namespace

class TestPair : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void wordsAreUnderstood()
    {
        for (const PairBy by : {PairBy::Step, PairBy::Samples, PairBy::Id})
            QVERIFY(*parsePairBy(pairByName(by)) == by);
        QVERIFY(!parsePairBy("epoch").ok());
    }

    void byStep()
    {
        QCOMPARE(pairs("0 loss @1: 1 2 - 4\n0 lr @1: 1\n", "0 loss @2: 2 3 4\n", PairBy::Step),
                 std::string("2-2 4-4"));
    }

    // Accumulation 2 against 1: half as many steps for the same samples.
    void bySamplesSeen()
    {
        QCOMPARE(
            pairs("0 samples_seen @0: 0 32 64 96 128\n", "0 samples_seen @0: 0 64 128\n", PairBy::Samples),
            std::string("0-0 2-1 4-2"));
        QCOMPARE(pairs("0 samples_seen @1: 10 20\n", "0 samples_seen @1: 32 64\n", PairBy::Samples),
                 std::string());
        QCOMPARE(pairs("0 loss @1: 10 20\n", "0 samples_seen @1: 10 20\n", PairBy::Samples), std::string());
    }

    void byIdWhateverTheRankAndOrder()
    {
        QCOMPARE(pairs("0 loss @1: 1 1\n0 ids 1.0: 1 2 3 4\n0 ids 2.0: 5 6 7 8\n",
                       "0 loss @1: 1 1\n1 loss @1: 1 1\n0 ids 1.0: 8 6\n1 ids 1.0: 5 7\n0 ids 2.0: 2 4\n1 "
                       "ids 2.0: 1 3\n",
                       PairBy::Id),
                 std::string("1-2 2-1"));
    }

    void repeatedSamplesPairInTheOrderOfTheirUse()
    {
        QCOMPARE(pairs("0 loss @1: 1 1 1\n0 ids 1.0: 1\n0 ids 2.0: 1\n0 ids 3.0: 1\n",
                       "0 loss @1: 1 1 1\n0 ids 1.0: 2\n0 ids 2.0: 1\n0 ids 3.0: 1\n", PairBy::Id),
                 std::string("1-2 2-3"));
    }

    void anEmptyRunPairsWithNothing()
    {
        for (const PairBy by : {PairBy::Step, PairBy::Samples, PairBy::Id})
            QCOMPARE(pairs("0 loss @1: 1\n0 samples_seen @1: 1\n0 ids 1.0: 1\n", "", by), std::string());
    }
};

QTEST_GUILESS_MAIN(TestPair)
#include "tst_pair.moc"
