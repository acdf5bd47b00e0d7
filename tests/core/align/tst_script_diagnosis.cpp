// The rules of scripts of the user's own on made-up runs: one process against ranks, bent in one place by the test.
#include "core/base/projection.h"
#include "tests/core/align/run_pair.h"

#include <fmt/format.h>

#include <QtTest>

#include <cmath>
#include <functional>

using namespace lockstep;
using test::causesOf;

namespace {

// A script that trains on `kParts` parts of a batch: one process on all of them, two ranks on one each.
constexpr int kParts = 2;

using Vector = Projection; // a gradient of as many elements as there are projections

Vector partOf(int part, int step)
{
    Vector v;
    for (std::size_t k = 0; k < v.size(); ++k)
        v[k] = std::sin(1.0 + part * 1.7 + step * 0.9 + double(k) * 2.3);
    return v;
}

Vector times(double factor, Vector v)
{
    for (double& element : v)
        element *= factor;
    return v;
}

Vector weighted(double first, double second, int step)
{
    Vector v = times(first, partOf(0, step)), other = partOf(1, step);
    for (std::size_t k = 0; k < v.size(); ++k)
        v[k] += second * other[k];
    return v;
}

double length(const Vector& v)
{
    double squares = 0;
    for (const double element : v)
        squares += element * element;
    return std::sqrt(squares);
}

double lossOfPart(int part, int step)
{
    return 2.0 + 0.5 * part - 0.01 * step;
}

struct Script {
    int world = 1;
    int steps = 6;
    // Of a rank at a step.
    std::function<Vector(int, int)> local, reduced;
    std::function<double(int, int)> loss;
    std::string more; // further lines of the trace

    std::string text() const
    {
        std::string out = fmt::format("mode {}\nworld {}\n", world > 1 ? "ddp" : "single", world);
        for (int rank = 0; rank < world; ++rank) {
            out += fmt::format("{} param_fingerprint @0: 5\n", rank);
            for (int step = 1; step <= steps; ++step) {
                const auto put = [&](const std::string& name, double value) {
                    out += fmt::format("{} {} @{}: {:.17g}\n", rank, name, step, value);
                };
                const Vector in = local(rank, step), taken = reduced(rank, step);
                put("loss", loss(rank, step));
                put("grad_norm_local", length(in));
                put("grad_norm", length(taken));
                for (std::size_t k = 0; k < in.size(); ++k) {
                    put(fmt::format("grad_proj_local[{}]", k), in[k]);
                    put(fmt::format("grad_proj[{}]", k), taken[k]);
                }
            }
        }
        return out + more;
    }
};

Script oneProcess()
{
    Script script;
    script.local = script.reduced = [](int, int step) { return weighted(0.5, 0.5, step); };
    script.loss = [](int, int step) { return (lossOfPart(0, step) + lossOfPart(1, step)) / kParts; };
    return script;
}

Script twoRanks()
{
    Script script = oneProcess();
    script.world = 2;
    script.local = [](int rank, int step) { return partOf(rank, step); };
    script.loss = lossOfPart;
    return script;
}

// The same line for every rank; "{}" stands for the rank.
std::string onRanks(int world, const char* line)
{
    std::string out;
    for (int rank = 0; rank < world; ++rank)
        out += fmt::format("{} {}\n", rank, line);
    return out;
}

class Scripts : public test::Pair
{
public:
    Scripts(const Script& a, const Script& b) : test::Pair(a.text(), b.text())
    {
        configA().workloadOptions["script"] = configB().workloadOptions["script"] = "train.py";
    }
};

} // namespace

class TestScriptDiagnosis : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void oneProcessAndRanksThatAgreeHaveNoFinding()
    {
        QCOMPARE(causesOf(Scripts(oneProcess(), twoRanks()).diagnosis()), QString());
    }

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

    // The script shortens the gradient by itself, in both runs; one process shows no gradient from before that.
    void aGradientThatIsClippedByHandIsHeldAgainstTheReferencesWhereTheOptimizerTakesIt()
    {
        Script single = oneProcess(), ranks = twoRanks();
        const auto clipped = [](double factor) {
            return [factor](int, int step) {
                const Vector whole = weighted(0.5, 0.5, step);
                return times(factor / length(whole), whole);
            };
        };
        single.local = single.reduced = clipped(0.1);
        ranks.reduced = clipped(0.1);
        QCOMPARE(causesOf(Scripts(single, ranks).diagnosis()), QString());
        // By a norm that counts both ranks' equal gradients.
        ranks.reduced = clipped(0.1 / std::sqrt(2.0));
        const Diagnosis often = Scripts(single, ranks).diagnosis();
        QVERIFY(causesOf(often).startsWith("D5"));
        QCOMPARE(often.findings.front().step, std::int64_t(1));
        ranks.reduced = clipped(0.08);
        QVERIFY(!causesOf(Scripts(single, ranks).diagnosis()).contains("D5"));
    }

    void shardsThatAreEachClippedAreAsLongAsTheRootOfTheirNumber_data()
    {
        QTest::addColumn<double>("longest");
        QTest::addColumn<bool>("shards");
        QTest::newRow("the root of two times the limit") << 0.5 * std::sqrt(2.0) << true;
        QTest::newRow("longer than that") << 0.75 << false;
        QTest::newRow("shorter") << 0.6 << false;
    }
    void shardsThatAreEachClippedAreAsLongAsTheRootOfTheirNumber()
    {
        QFETCH(double, longest);
        QFETCH(bool, shards);
        Script single = oneProcess(), ranks = twoRanks();
        ranks.local = ranks.reduced = [=](int, int step) {
            const Vector whole = weighted(0.5, step > 1 ? 0.6 : 0.5, step); // not in the gradient's direction
            return times(longest / length(whole), whole);
        };
        ranks.loss = single.loss;
        Scripts pair(single, ranks);
        pair.configA().clipNorm = 0.5;
        pair.configB().mode = "fsdp";
        QCOMPARE(causesOf(pair.diagnosis()).startsWith("D4"), shards);
    }

    void ranksThatClipByTheirOwnNormDoSoBeforeTheAverage()
    {
        Script single = oneProcess(), ranks = twoRanks();
        ranks.reduced = ranks.local; // what the rank had when it clipped
        std::string norms;
        for (int rank = 0; rank < 2; ++rank)
            for (int step = 1; step <= 6; ++step)
                norms += fmt::format("{} clip_norm_torch @{}: {:.9g}\n{} grad_norm_clipped @{}: 0.5\n", rank,
                                     step, length(partOf(rank, step)), rank, step);
        ranks.more = norms;
        const Diagnosis own = Scripts(single, ranks).diagnosis();
        QVERIFY2(causesOf(own).startsWith("D3"), qPrintable(causesOf(own)));
        QCOMPARE(own.findings.front().step, std::int64_t(1));
    }

    // A norm that is not the record's, and the same in one process.
    void aNormThatTheReferenceClipsByAsWellIsNoFault()
    {
        Script single = oneProcess(), ranks = twoRanks();
        const auto norms = [](int world, double factor) {
            std::string text;
            for (int rank = 0; rank < world; ++rank)
                for (int step = 1; step <= 6; ++step)
                    text += fmt::format("{} clip_norm_torch @{}: {:.9g}\n", rank, step,
                                        factor * length(weighted(0.5, 0.5, step)));
            return text;
        };
        single.more = norms(1, 1.2);
        ranks.more = norms(2, 1.2);
        QCOMPARE(causesOf(Scripts(single, ranks).diagnosis()), QString());
        single.more = norms(1, 1);
        ranks.more = norms(2, std::sqrt(2.0));
        QCOMPARE(causesOf(Scripts(single, ranks).diagnosis()), QString("D5"));
    }

    // The reference divides by a count of both parts that nothing records: 0.3 and 0.7 of it are the ranks'.
    void sharesThatNothingRecordsAreSolvedFor()
    {
        Script single = oneProcess(), ranks = twoRanks();
        single.local = single.reduced = [](int, int step) { return weighted(0.3, 0.7, step); };
        single.loss = [](int, int step) { return 0.3 * lossOfPart(0, step) + 0.7 * lossOfPart(1, step); };
        ranks.more = onRanks(2, "samples @1 x1: 8 8 8 8 8 8");
        single.more = onRanks(1, "samples @1 x1: 16 16 16 16 16 16");
        const Diagnosis uneven = Scripts(single, ranks).diagnosis();
        QCOMPARE(causesOf(uneven), QString("B5"));
        QVERIFY(QString::fromStdString(uneven.findings.front().sentence).contains("weighted by 0.3, 0.7"));
        // The losses say otherwise: then there are no such shares.
        single.loss = [](int, int step) { return 0.6 * lossOfPart(0, step) + 0.4 * lossOfPart(1, step); };
        QVERIFY(!causesOf(Scripts(single, ranks).diagnosis()).contains("B5"));
    }

    // Under dropout every loss is another one; a loss that is always half is a sum all the same.
    void aSumShowsThroughRandomLayers_data()
    {
        QTest::addColumn<double>("loss");
        QTest::addColumn<double>("gradient");
        QTest::addColumn<QString>("causes");
        QTest::newRow("both half") << 0.5 << 0.5 << "B1 E5";
        QTest::newRow("the gradient is made good") << 0.5 << 1.0 << "E5";
        QTest::newRow("both as in one process") << 1.0 << 1.0 << "E5";
    }
    void aSumShowsThroughRandomLayers()
    {
        QFETCH(double, loss);
        QFETCH(double, gradient);
        QFETCH(QString, causes);
        Script single = oneProcess(), ranks = twoRanks();
        const auto blur = [](int rank, int step) { return 1 + 0.05 * std::sin(rank * 3.0 + step * 5.0); };
        ranks.loss = [=](int rank, int step) { return loss * blur(rank, step) * lossOfPart(rank, step); };
        const auto turned = [=](int rank, int step) {
            Vector v = times(gradient * blur(rank, step), partOf(rank, step));
            v[0] *= 0.9;
            return v;
        };
        ranks.local = turned;
        ranks.reduced = [=](int, int step) {
            Vector v = turned(0, step);
            for (std::size_t k = 0; k < v.size(); ++k)
                v[k] = (v[k] + turned(1, step)[k]) / 2;
            return v;
        };
        const char* draws = "rng_cpu @0 x1: 1 2 3 4 5 6 7";
        single.more = onRanks(1, draws);
        ranks.more = fmt::format("0 {}\n1 rng_cpu @0 x1: 11 12 13 14 15 16 17\n", draws);
        QCOMPARE(causesOf(Scripts(single, ranks).diagnosis()), causes);
    }

    // All ranks draw the same and go the way of the one process: the gradients are multiples of each other.
    void drawsThatAllShareAreNoFaultWhereTheGradientIsTheReferences()
    {
        Script single = oneProcess(), ranks = twoRanks();
        const char* draws = "rng_cpu @0 x1: 1 2 3 4 5 6 7";
        single.more = onRanks(1, draws);
        ranks.more = onRanks(2, draws);
        QCOMPARE(causesOf(Scripts(single, ranks).diagnosis()), QString());
        ranks.local = [](int rank, int step) { return times(3, partOf(rank, step)); };
        ranks.reduced = [](int, int step) { return times(3, weighted(0.5, 0.5, step)); };
        QVERIFY(!causesOf(Scripts(single, ranks).diagnosis()).contains("E6"));
        ranks.local = [](int rank, int step) { return partOf(rank + 5, step); };
        ranks.reduced = [](int, int step) { return partOf(9, step); };
        ranks.loss = [](int rank, int step) { return 1.1 * lossOfPart(rank, step); };
        QVERIFY(causesOf(Scripts(single, ranks).diagnosis()).startsWith("E6"));
    }

    // Two groups, of which the run has one from step 4 on.
    void anOptimizerThatIsMadeAnewWithFewerGroupsHasLostThem()
    {
        Script single = oneProcess(), ranks = twoRanks();
        const char *one = "lr[0] @1 x1: 0.1 0.1 0.1 0.1 0.1 0.1",
                   *two = "lr[1] @1 x1: 0.1 0.1 0.1 0.1 0.1 0.1";
        single.more = onRanks(1, one) + onRanks(1, two) + "0 update_norm @1 x1: 1 1 1 1 1 1\n";
        ranks.more = onRanks(2, one) + onRanks(2, "lr[1] @1 x1: 0.1 0.1 0.1") +
                     onRanks(2, "update_norm @1 x1: 1 1 1 1.001 1 1");
        Scripts pair(single, ranks);
        pair.configA().optimizer = pair.configB().optimizer = "adamw";
        const Diagnosis lost = pair.diagnosis();
        QCOMPARE(causesOf(lost), QString("D7"));
        QCOMPARE(lost.findings.front().step, std::int64_t(4));
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

    // DDP shows a parameter's gradient before the reduction only where the last pass used it.
    void whatIsMissingBeforeTheReductionIsNotLostWhereTheResultIsTheReferences()
    {
        Script ranks = twoRanks();
        ranks.local = [](int rank, int step) {
            Vector v = partOf(rank, step);
            v[0] = 0;
            return v;
        };
        QCOMPARE(causesOf(Scripts(oneProcess(), ranks).diagnosis()), QString());
    }
};

QTEST_APPLESS_MAIN(TestScriptDiagnosis)
#include "tst_script_diagnosis.moc"
