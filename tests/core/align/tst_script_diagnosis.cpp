// The rules of scripts of the user's own on made-up runs: losses, gradients and optimizers of one process against ranks.
#include "tests/core/align/script_trace.h"

#include <QtTest>

using namespace lockstep;
using test::causesOf;
using test::length;
using test::lossOfPart;
using test::oneProcess;
using test::onRanks;
using test::partOf;
using test::Script;
using test::Scripts;
using test::times;
using test::twoRanks;
using test::Vector;
using test::weighted;

class TestScriptDiagnosis : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void oneProcessAndRanksThatAgreeHaveNoFinding()
    {
        QCOMPARE(causesOf(Scripts(oneProcess(), twoRanks()).diagnosis()), QString());
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

    // Shards of four ranks are shorter than the limit; the whole gradient is longer.
    void shardsBelowTheLimitLeaveAsItIsWhatTheReferenceClips()
    {
        Script single = oneProcess(), ranks = twoRanks();
        ranks.local = ranks.reduced = single.reduced;
        ranks.loss = single.loss;
        const double whole = length(weighted(0.5, 0.5, 1)), limit = whole * 0.8;
        single.more = fmt::format("0 clip_norm_torch @1: {:.9g}\n0 update_norm @1: 1\n", whole);
        ranks.more = onRanks(2, "update_norm @1: 1.25");
        const auto first = [&](const char* mode) {
            Scripts pair(single, ranks);
            pair.configA().clipNorm = limit;
            pair.configA().optimizer = pair.configB().optimizer = "adamw";
            pair.configA().weightDecay = pair.configB().weightDecay = 0.1;
            pair.configB().mode = mode;
            return causesOf(pair.diagnosis()).split(' ').first();
        };
        QCOMPARE(first("fsdp"), QString("D4"));
        QVERIFY(first("ddp") != "D4");
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

    void anotherLimitOfClippingIsNamed()
    {
        Script single = oneProcess(), ranks = twoRanks();
        single.more = onRanks(1, "grad_norm_clipped @1 x1: 0.5 0.5 0.5 0.5 0.5 0.5");
        ranks.more = onRanks(2, "grad_norm_clipped @1 x1: 0.25 0.25 0.25 0.25 0.25 0.25");
        Scripts pair(single, ranks);
        pair.configA().clipNorm = 0.5;
        pair.configB().clipNorm = 0.25;
        const Finding limit = pair.diagnosis().findings.front();
        QVERIFY(limit.causes.empty());
        QVERIFY2(QString::fromStdString(limit.sentence).contains("clip_norm is 0.5 against 0.25"),
                 limit.sentence.c_str());
    }

    // A ReLU that tips over: from some step on a small part of the gradient, while the loss is what it was.
    void aSmallPartOfAGradientThatTipsOverLaterIsNoFault_data()
    {
        QTest::addColumn<int>("from");
        QTest::addColumn<double>("part");
        QTest::addColumn<bool>("fault");
        QTest::newRow("two thousandths, later") << 4 << 2e-3 << false;
        QTest::newRow("as small, from the first step on") << 1 << 2e-3 << true;
        QTest::newRow("a fifth, later") << 4 << 0.2 << true;
    }
    void aSmallPartOfAGradientThatTipsOverLaterIsNoFault()
    {
        QFETCH(int, from);
        QFETCH(double, part);
        QFETCH(bool, fault);
        Script single = oneProcess(), ranks = twoRanks();
        const auto tipped = [=](Vector v, int step) {
            if (step >= from)
                v[1] += part * length(v);
            return v;
        };
        ranks.local = [=](int rank, int step) { return tipped(partOf(rank, step), step); };
        ranks.reduced = [=](int, int step) {
            Vector sum = tipped(partOf(0, step), step), other = tipped(partOf(1, step), step);
            for (std::size_t k = 0; k < sum.size(); ++k)
                sum[k] = (sum[k] + other[k]) / 2;
            return sum;
        };
        ranks.more = onRanks(2, "micro_steps @1 x1: 4 4 4 4 4 4");
        single.more = onRanks(1, "micro_steps @1 x1: 4 4 4 4 4 4");
        const Diagnosis found = Scripts(single, ranks).diagnosis();
        QCOMPARE(!found.findings.empty(), fault);
        if (fault)
            QCOMPARE(found.findings.front().step, std::int64_t(from));
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

    // Each run divides by something of its own batch, and the gradients are equal: the losses are means of other sizes.
    void lossesThatAreWeighedOtherwiseDoNotTellWhereTheGradientsAreEqual()
    {
        Script ranks = twoRanks();
        ranks.loss = [](int rank, int step) { return lossOfPart(rank, step) / 3; };
        QCOMPARE(causesOf(Scripts(oneProcess(), ranks).diagnosis()), QString());
        ranks.local = [](int rank, int step) { return times(1.0 / 3, partOf(rank, step)); };
        ranks.reduced = [](int, int step) { return times(1.0 / 3, weighted(0.5, 0.5, step)); };
        QVERIFY(!causesOf(Scripts(oneProcess(), ranks).diagnosis()).isEmpty());
    }

    // The last forward goes past DDP, as of a model that another one is trained against. What is not reduced is all of a third
    // model, which DDP never saw; or all of the second, which it knows.
    void aModelThatWasNeverWrappedIsOutsideDdp_data()
    {
        QTest::addColumn<bool>("known");
        QTest::addColumn<QString>("first");
        QTest::newRow("unknown to DDP") << false << "C10";
        QTest::newRow("known to DDP") << true << "C1";
    }
    void aModelThatWasNeverWrappedIsOutsideDdp()
    {
        QFETCH(bool, known);
        QFETCH(QString, first);
        Script single = oneProcess(), ranks = twoRanks();
        ranks.reduced = [](int rank, int step) {
            Vector v = weighted(0.5, 0.5, step);
            v[0] = partOf(rank, step)[0];
            return v;
        };
        for (int rank = 0; rank < 2; ++rank)
            ranks.more +=
                fmt::format("{0} event 1 reduction "
                            "{{\"forward\":[\"sync\",\"bypassed\"],\"backward\":[\"sync\",\"sync\"]}}\n"
                            "{0} tensor 1 weight local 1 1{0} reduced 1 77\n"
                            "{0} tensor 1 model2.weight{1} reduced 2 2{0}\n",
                            rank, known ? fmt::format(" local 2 2{}", rank) : "");
        const Diagnosis d = Scripts(single, ranks).diagnosis();
        QVERIFY2(causesOf(d).startsWith(first), qPrintable(causesOf(d)));
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
