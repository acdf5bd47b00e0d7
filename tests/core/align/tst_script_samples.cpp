// The rules of scripts of the user's own on made-up runs: which samples a step has, and what only looks like samples.
#include "tests/core/align/script_trace.h"

#include <fmt/format.h>

#include <QtTest>

using namespace lockstep;
using test::causesOf;
using test::oneProcess;
using test::onRanks;
using test::Script;
using test::Scripts;
using test::twoRanks;

class TestScriptSamples : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    // Time comes first in the inputs: as many rows on a rank as in one process, and as many targets on all ranks together.
    void rowsThatAreNotDealtAreNoSamples()
    {
        Script single = oneProcess(), ranks = twoRanks();
        single.more =
            "0 samples @1 x1: 10 10\n0 tokens @1 x1: 80 80\n0 hashes 1.0: 1 2 3\n0 sample_content @1: 1\n";
        ranks.more = onRanks(2, "samples @1 x1: 10 10") + onRanks(2, "tokens @1 x1: 40 40") +
                     "0 hashes 1.0: 4 5 6\n1 hashes 1.0: 7 8 9\n" + onRanks(2, "sample_content @1: 2");
        QCOMPARE(causesOf(Scripts(single, ranks).diagnosis()), QString());
        // Twice as many targets: the batch of one process on every rank.
        ranks.more = onRanks(2, "samples @1 x1: 10 10") + onRanks(2, "tokens @1 x1: 80 80");
        QVERIFY(causesOf(Scripts(single, ranks).diagnosis()).startsWith("A9"));
    }

    // One graph on all ranks: the loss takes each rank's share. Where the losses are equal, too, nothing is shared out.
    void inputsOfAllRanksAreTheirSamplesOnlyWhereTheLossesAreEqual()
    {
        Script single = oneProcess(), ranks = twoRanks();
        const char *samples = "samples @1: 200", *epoch = "epoch @1 x1: 0 0 0 0 0 0",
                   *hashes = "hashes 1.0: 1 2 3", *content = "sample_content @1: 6";
        single.more = onRanks(1, samples) + onRanks(1, epoch) + onRanks(1, hashes) + onRanks(1, content);
        ranks.more = onRanks(2, samples) + onRanks(2, epoch) + onRanks(2, hashes) + onRanks(2, content);
        QCOMPARE(causesOf(Scripts(single, ranks).diagnosis()), QString());
        ranks.loss = single.loss;
        ranks.local = single.local;
        QVERIFY(causesOf(Scripts(single, ranks).diagnosis()).startsWith("A1"));
    }

    // With drop-out the losses differ in any case: the inputs have to be one and the same at every step.
    void underRandomLayersOnlyInputsThatNeverChangeAreShared_data()
    {
        QTest::addColumn<QString>("next");
        QTest::addColumn<bool>("shared");
        QTest::newRow("one graph") << "1 2 3" << true;
        QTest::newRow("batches") << "4 5 6" << false;
    }
    void underRandomLayersOnlyInputsThatNeverChangeAreShared()
    {
        QFETCH(QString, next);
        QFETCH(bool, shared);
        Script single = oneProcess(), ranks = twoRanks();
        const std::string second = "hashes 2.0: " + next.toStdString();
        const auto more = [&](int world) {
            std::string text;
            for (int rank = 0; rank < world; ++rank)
                text += fmt::format("{} rng_cpu @0 x1: {}1 {}2 {}3 {}4 {}5 {}6 {}7\n", rank, rank, rank, rank,
                                    rank, rank, rank, rank);
            for (const char* line : {"samples @1 x1: 3 3", "epoch @1 x1: 0 0", "hashes 1.0: 1 2 3",
                                     second.c_str(), "sample_content @1 x1: 6 7"})
                text += onRanks(world, line);
            return text;
        };
        single.more = more(1);
        ranks.more = more(2);
        QCOMPARE(!causesOf(Scripts(single, ranks).diagnosis()).contains("A1"), shared);
    }

    // What a generator made carries the rounding of its weights; what comes from another place of the data does not.
    void inputsThatOccurNowhereInTheReferenceWereMadeByAModel()
    {
        Script single = oneProcess(), ranks = twoRanks();
        single.more = "0 hashes 1.0: 1 2 3 4\n0 hashes 2.0: 5 6 7 8\n0 sample_content @1 x1: 1 2\n";
        const std::string first = "0 hashes 1.0: 1 2\n1 hashes 1.0: 3 4\n" +
                                  onRanks(2, "sample_content @1 x1: 1 2") + onRanks(2, "epoch @1 x1: 0 0");
        ranks.more = first + "0 hashes 2.0: 5 16\n1 hashes 2.0: 7 18\n";
        QCOMPARE(causesOf(Scripts(single, ranks).diagnosis()), QString());
        ranks.more = first + "0 hashes 2.0: 5 1\n1 hashes 2.0: 7 2\n";
        QCOMPARE(Scripts(single, ranks).diagnosis().firstStep, std::int64_t(2));
    }

    // The last batch of the first epoch has 4 of 12 samples in one process, and the ranks leave it out.
    void aLastBatchThatIsLeftOutIsNotALargerBatch()
    {
        Script single = oneProcess(), ranks = twoRanks();
        single.more = "0 epoch @1 x1: 0 0 1 1\n0 ids 1.0: 1 2 3 4 5 6 7 8\n0 ids 2.0: 9 10 11 12\n"
                      "0 ids 3.0: 5 6 7 8 9 10 11 12\n0 ids 4.0: 1 2 3 4\n0 samples @1 x1: 8 4 8 4\n"
                      "0 sample_ids @1 x1: 1 2 3 4\n";
        ranks.more = "0 ids 1.0: 1 3 5 7\n1 ids 1.0: 2 4 6 8\n0 ids 2.0: 5 7 9 11\n1 ids 2.0: 6 8 10 12\n" +
                     onRanks(2, "epoch @1 x1: 0 1") + onRanks(2, "samples @1 x1: 4 4") +
                     onRanks(2, "sample_ids @1 x1: 1 2");
        const Diagnosis shorter = Scripts(single, ranks).diagnosis();
        QVERIFY2(causesOf(shorter).startsWith("A6"), qPrintable(causesOf(shorter)));
        QCOMPARE(shorter.findings.front().step, std::int64_t(2));
        QVERIFY(!causesOf(shorter).contains("A9"));
    }

    // After all eight samples of the epoch four come once more.
    void wholeBatchesThatAreRepeatedArePadding()
    {
        Script single = oneProcess(), ranks = twoRanks();
        single.more = "0 epoch @1 x1: 0 0 1 1\n0 ids 1.0: 1 2 3 4\n0 ids 2.0: 5 6 7 8\n0 ids 3.0: 8 7 6 5\n"
                      "0 ids 4.0: 4 3 2 1\n0 samples @1 x1: 4 4 4 4\n0 sample_ids @1 x1: 1 2 3 4\n";
        ranks.more =
            "0 ids 1.0: 1 3\n1 ids 1.0: 2 4\n0 ids 2.0: 5 7\n1 ids 2.0: 6 8\n0 ids 3.0: 1 4\n1 ids 3.0: 3 2\n"
            "0 ids 4.0: 8 6\n1 ids 4.0: 7 5\n" +
            onRanks(2, "epoch @1 x1: 0 0 0 1") + onRanks(2, "samples @1 x1: 2 2 2 2") +
            onRanks(2, "sample_ids @1 x1: 1 2 3 4");
        const Diagnosis longer = Scripts(single, ranks).diagnosis();
        QVERIFY2(causesOf(longer).startsWith("A5"), qPrintable(causesOf(longer)));
        QCOMPARE(longer.findings.front().step, std::int64_t(3));
    }
};

QTEST_APPLESS_MAIN(TestScriptSamples)
#include "tst_script_samples.moc"
