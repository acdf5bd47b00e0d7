// The rules on made-up runs: the factor, rank and step of a deviation are chosen by the test, not by the catalogue.
#include "core/align/diagnose.h"
#include "core/align/diagnose/class_separation.h"
#include "core/align/lint.h"
#include "core/align/proof.h"
#include "tests/core/align/ddp_trace.h"
#include "tests/core/align/run_pair.h"

#include <fmt/format.h>

#include <QtTest>

#include <algorithm>

#include <cmath>

using namespace lockstep;
using test::causesOf;
using test::DdpTrace;

namespace {

class Pair : public test::Pair
{
public:
    using test::Pair::Pair;
    Pair(const DdpTrace& a, const DdpTrace& b) : test::Pair(a.text(), b.text()) {}
};

// Evaluations after steps 2, 4 and 6; from step `padded` on (-1: never) all ranks count equally many samples.
std::string evaluated(int world, int setSize, int padded)
{
    std::string text;
    for (int rank = 0; rank < world; ++rank) {
        std::string all, own, size, loss;
        for (int step = 2; step <= 6; step += 2) {
            const bool counts = padded >= 0 && step >= padded;
            const int most = (setSize + world - 1) / world;
            own += fmt::format(" {}", counts ? most : std::max(0, (setSize - rank + world - 1) / world));
            all += fmt::format(" {}", counts ? most * world : setSize);
            size += fmt::format(" {}", setSize);
            loss += counts && most * world > setSize ? " 1.25" : " 1.5";
        }
        for (const auto& [name, values] :
             {std::pair("eval_samples", all), std::pair("eval_samples_local", own),
              std::pair("eval_set_size", size), std::pair("eval_loss", loss)})
            text += fmt::format("{} {} @2 x2:{}\n", rank, name, values);
    }
    return text;
}

std::string solved(const Finding& finding, const std::string& name)
{
    const auto& parameters = finding.replays.front().parameters;
    const auto it = parameters.find(name);
    return it == parameters.end() ? std::string() : it->second;
}

} // namespace

class TestDiagnose : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void equalRunsHaveNoFinding()
    {
        const Diagnosis d = Pair(DdpTrace(), DdpTrace()).diagnosis();
        QVERIFY(d.findings.empty());
        QCOMPARE(d.firstStep, -1);
        QVERIFY(d.comparable);
    }

    void anyFactorIsSolvedFromTheNumbers_data()
    {
        QTest::addColumn<double>("factor");
        QTest::addColumn<int>("world");
        QTest::addColumn<int>("micros");
        QTest::addColumn<int>("step");
        QTest::addColumn<QString>("first");
        QTest::addColumn<QString>("k");
        QTest::newRow("the number of ranks") << 3.0 << 3 << 1 << 1 << "B2"
                                             << "";
        QTest::newRow("no count of the run") << 2.5 << 2 << 1 << 4 << "B2"
                                             << "2.5";
        QTest::newRow("the micro-batches") << 5.0 << 2 << 5 << 1 << "B6"
                                           << "";
        QTest::newRow("one over the ranks") << 0.25 << 4 << 1 << 2 << "B3"
                                            << "";
        QTest::newRow("one over seven") << 1.0 / 7 << 2 << 1 << 3 << "B3"
                                        << "7";
        QTest::newRow("the samples") << 8.0 << 2 << 1 << 1 << "B1"
                                     << "";
    }
    void anyFactorIsSolvedFromTheNumbers()
    {
        QFETCH(double, factor);
        QFETCH(int, world);
        QFETCH(int, micros);
        QFETCH(int, step);
        QFETCH(QString, first);
        QFETCH(QString, k);
        DdpTrace clean;
        clean.world = world;
        clean.micros = micros;
        DdpTrace bent = clean;
        bent.localFactor = [=](int, std::int64_t t) { return t >= step ? factor : 1.0; };
        const Diagnosis d = Pair(clean, bent).diagnosis();
        QVERIFY(!d.findings.empty());
        const Finding& best = d.findings.front();
        QCOMPARE(QString::fromStdString(best.causes.front()), first);
        QCOMPARE(best.step, std::int64_t(step));
        QCOMPARE(d.firstStep, std::int64_t(step));
        QCOMPARE(QString::fromStdString(solved(best, "k")), k);
        QVERIFY(!best.evidence.empty());
        QVERIFY(!best.fix.empty());
    }

    // World 2 and two micro-batches: nothing recorded can tell the loss times 2 from two that were not divided.
    void oneFactorOfTwoCountsIsNoCertainty()
    {
        DdpTrace clean;
        clean.micros = 2;
        DdpTrace bent = clean;
        bent.localFactor = [](int, std::int64_t) { return 2.0; };
        Diagnosis d = Pair(clean, bent).diagnosis();
        QVERIFY2(causesOf(d).contains("B2") && causesOf(d).contains("B6"), qPrintable(causesOf(d)));
        QVERIFY((d.findings.front().causes == std::vector<std::string>{"B2", "B6"}));
        QCOMPARE(int(d.findings.front().certainty), int(Certainty::Likely));
        // Both replays equal: one class, and a run that tells them apart.
        std::vector<ReplayOutcome> outcomes;
        for (const FaultSpec& fault : replayCandidates(d)) {
            const bool equal = fault.id == "B2" || fault.id == "B6";
            outcomes.push_back(
                {fault, equal ? ReplayOutcome::Equal : ReplayOutcome::Differs, {equal, 10, -1, {}}, {}});
        }
        RunTraits traits;
        traits.world = 2;
        traits.accumulate = 2;
        traits.batch = 8;
        applyReplays(d, outcomes, traits);
        QCOMPARE(d.findings.front().causes.size(), std::size_t(2));
        QCOMPARE(int(d.findings.front().certainty), int(Certainty::Proven));
        const auto change = align::separatingChange({"B2", "B6"}, traits);
        QVERIFY(change && change->setting == "accumulate" && change->value == 3);
        QVERIFY(!align::separatingChange({"B8", "C1"}, traits)); // no count decides between these
        QVERIFY2(d.findings.front().separate.find("--accumulate 3") != std::string::npos,
                 d.findings.front().separate.c_str());
    }

    void gradientsThatStayOnTheirRankAreSeen()
    {
        DdpTrace bent;
        bent.reduces = [](std::int64_t t) { return t < 4; };
        const Diagnosis d = Pair(DdpTrace(), bent).diagnosis();
        QVERIFY2(causesOf(d).contains("B8") && causesOf(d).contains("C1") && causesOf(d).contains("C2"),
                 qPrintable(causesOf(d)));
        QCOMPARE(d.findings.front().step, std::int64_t(4));
        QCOMPARE(solved(d.findings.front(), "step"), std::string("4"));
    }

    void unequalStartIsSeenBeforeTheFirstStep()
    {
        DdpTrace bent;
        bent.equalStart = false;
        const Diagnosis d = Pair(DdpTrace(), bent).diagnosis();
        QCOMPARE(causesOf(d).section(' ', 0, 0), QStringLiteral("C7"));
        QCOMPARE(d.findings.front().step, std::int64_t(0));
    }

    void aConstantRateIsNoSchedule()
    {
        DdpTrace bent;
        bent.rateFactor = [](std::int64_t) { return 3.0; };
        const Diagnosis d = Pair(DdpTrace(), bent).diagnosis();
        QCOMPARE(causesOf(d), QStringLiteral("D1"));
        QCOMPARE(solved(d.findings.front(), "k"), std::string("3"));
        QCOMPARE(int(d.findings.front().certainty), int(Certainty::Likely));
    }

    void aScheduleThatRunsAheadIsNoConstantFactor()
    {
        DdpTrace clean, bent;
        clean.steps = 12;
        bent.steps = 12;
        clean.rateFactor = [](std::int64_t t) { return 1.0 / double(t + 3); };
        bent.rateFactor = [](std::int64_t t) { return 1.0 / double(1 + 5 * (t - 1) + 3); };
        const Diagnosis d = Pair(clean, bent).diagnosis();
        QCOMPARE(causesOf(d), QStringLiteral("D2"));
        QCOMPARE(d.findings.front().step, std::int64_t(2));
        QCOMPARE(solved(d.findings.front(), "k"), std::string("5"));
    }

    void nothingUpdated()
    {
        DdpTrace bent;
        bent.updateFactor = [](std::int64_t t) { return t >= 2 ? 0.0 : 1.0; };
        const Diagnosis d = Pair(DdpTrace(), bent).diagnosis();
        QCOMPARE(causesOf(d).section(' ', 0, 0), QStringLiteral("D6"));
        QCOMPARE(d.findings.front().step, std::int64_t(2));
    }

    // Rounding in another order is what correct runs have.
    void lastBitsAreBenign()
    {
        DdpTrace bent;
        bent.localFactor = [](int rank, std::int64_t t) { return t == 3 && rank == 1 ? 1 + 1e-7 : 1.0; };
        const Diagnosis d = Pair(DdpTrace(), bent).diagnosis();
        QVERIFY(!d.findings.empty());
        for (const Finding& finding : d.findings)
            QCOMPARE(int(finding.certainty), int(Certainty::Benign));
    }

    void missingRecordsStandBesideTheFindings()
    {
        DdpTrace clean, bent;
        clean.world = bent.world = 3;
        bent.without = 2;
        bent.localFactor = [](int, std::int64_t) { return 3.0; };
        const Diagnosis d = Pair(clean, bent).diagnosis();
        QVERIFY(!d.problems.empty());
        QVERIFY(d.problems.front().find("rank 2") != std::string::npos);
        QVERIFY(!d.findings.empty());
    }

    void nothingInCommonCannotBeCompared()
    {
        const Diagnosis d = Pair("mode ddp\n0 loss @1: 1 2\n", "mode ddp\n0 loss @5: 1 2\n").diagnosis();
        QVERIFY(!d.comparable);
        QVERIFY(d.findings.empty());
        QVERIFY(!d.problems.empty());
    }

    // Two processes may work through the batches of four ranks; the samples and the mean are the single process's.
    void moreMicroBatchesOnFewerProcessesAreNoDifference()
    {
        std::string single = "mode single\n", ranks = "mode ddp\nworld 2\n";
        for (int step = 1; step <= 4; ++step) {
            single += fmt::format("0 micro_steps @{0}: 1\n0 loss @{0}: 2\n0 lr[0] @{0}: 0.1\n", step);
            for (int rank = 0; rank < 2; ++rank)
                ranks += fmt::format("{1} micro_steps @{0}: 2\n{1} loss @{0}: {2}\n{1} lr[0] @{0}: 0.1\n",
                                     step, rank, rank == 0 ? 1.75 : 2.25);
        }
        const Diagnosis d = Pair(single, ranks).diagnosis();
        QVERIFY2(d.findings.empty(), qPrintable(causesOf(d)));
        QVERIFY(d.comparable);
        const std::string faster =
            fmt::format("{}1 lr[0] @4: 0.2\n", ranks.substr(0, ranks.rfind("1 lr[0]")));
        QCOMPARE(Pair(single, faster).diagnosis().firstStep, std::int64_t(4));
    }

    // Neither a run's name nor what was planted in it reaches the rules.
    void namesAndPlantedDeviationsAreNotSeen()
    {
        DdpTrace bent;
        bent.localFactor = [](int, std::int64_t) { return 2.0; };
        Pair plain(DdpTrace(), bent), told(DdpTrace(), bent);
        told.configB().name = "fault-B6";
        told.configB().faults = {FaultSpec{"B6", {{"k", "2"}}}};
        QVERIFY(plain.diagnosis().findings == told.diagnosis().findings);
        QVERIFY(traitsOf(plain.configB()).settings == traitsOf(told.configB()).settings);
    }

    // A clean replay refutes what it could have shown; who wrote a file is not in any number.
    void aCleanReplayDoesNotRefuteWhatItCannotShow()
    {
        std::string written = DdpTrace().text();
        for (int rank = 0; rank < 2; ++rank)
            written += fmt::format("{} event 6 checkpoint {{\"path\":\"checkpoints/step_6.pt\"}}\n", rank);
        Diagnosis d = Pair(DdpTrace().text(), written).diagnosis();
        QCOMPARE(causesOf(d), QStringLiteral("F2"));
        QVERIFY(replayCandidates(d).empty());
        dropRefuted(d);
        QCOMPARE(causesOf(d), QStringLiteral("F2"));
        applyReplays(d, {}, RunTraits());
        QCOMPARE(causesOf(d), QStringLiteral("F2"));
        DdpTrace bent;
        bent.equalStart = false;
        Diagnosis shown = Pair(DdpTrace(), bent).diagnosis();
        dropRefuted(shown);
        QVERIFY(shown.findings.empty());
    }

    void replaysAreHeldAgainstEveryBit()
    {
        DdpTrace bent;
        bent.localFactor = [](int, std::int64_t t) { return t >= 3 ? 2.0 : 1.0; };
        Pair same(bent, bent), different(DdpTrace(), bent);
        const auto equal = compareReplay(same.readerA(), same.readerB(), 0, 6);
        QVERIFY(equal.ok() && equal->equal && equal->points > 100);
        const auto parts = compareReplay(different.readerA(), different.readerB(), 0, 6);
        QVERIFY(parts.ok() && !parts->equal);
        QCOMPARE(parts->step, std::int64_t(3));
        const auto before = compareReplay(different.readerA(), different.readerB(), 0, 2);
        QVERIFY(before.ok() && before->equal);
        const auto tooShort = compareReplay(different.readerA(), different.readerB(), 0, 9);
        QVERIFY(tooShort.ok());
    }

    void lintFindsStatesNoCorrectRunHas()
    {
        DdpTrace clean;
        const auto lint = [](const DdpTrace& trace, const std::string& more = {}) {
            QTemporaryDir dir;
            const test::TracedRun run =
                test::writeTrace(dir.path().toStdString() + "/r", trace.text() + more);
            RunReader reader = std::move(RunReader::open(run.folder)).value();
            const Result<Lint> result = lintRun({&reader, traitsOf(run.config)});
            QStringList checks;
            for (const LintFinding& found : result.value().findings) {
                const auto& causes = found.finding.causes;
                const QString cause =
                    causes.empty() ? QString() : QString::fromStdString("=" + causes.front());
                checks << QString::fromStdString(found.check) +
                              (found.check == "ranks_differ" ? cause : QString());
            }
            return checks.join(' ');
        };
        QCOMPARE(lint(clean), QString());
        DdpTrace alone = clean;
        alone.reduces = [](std::int64_t) { return false; };
        QCOMPARE(lint(alone), QStringLiteral("ranks_differ=B8"));
        // Reduced, and yet not equal: one run does not tell why, so no cause is named.
        DdpTrace stray = clean;
        stray.strays = [](int rank, std::int64_t step) { return rank == 1 && step == 5; };
        QCOMPARE(lint(stray), QStringLiteral("ranks_differ"));
        DdpTrace still = clean;
        still.updateFactor = [](std::int64_t) { return 0.0; };
        QCOMPARE(lint(still), QStringLiteral("no_update"));
        DdpTrace broken = clean;
        broken.localFactor = [](int, std::int64_t t) { return t == 6 ? NAN : 1.0; };
        QCOMPARE(lint(broken), QStringLiteral("nonfinite_gradient"));
        DdpTrace lost = clean;
        lost.lossFactor = [](int rank, std::int64_t t) { return rank == 1 && t >= 4 ? NAN : 1.0; };
        QCOMPARE(lint(lost), QStringLiteral("nonfinite_loss"));
        const std::string skipped = " @4: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n";
        QCOMPARE(lint(lost, "0 step_skipped" + skipped + "1 step_skipped" + skipped), QString());
        QCOMPARE(lint(clean, "0 loss_logged @1: 1.99\n"), QStringLiteral("logged_loss"));
        // As many decimals as the script prints are enough, and no reason to take the mean for something else.
        DdpTrace odd = clean;
        odd.lossFactor = [](int, std::int64_t step) { return 1.0 + 0.0123457 * double(step); };
        QString own = "0 loss_logged @1:", mean = own;
        for (int step = 1; step <= odd.steps; ++step) {
            const double ofRank = (2.0 - 0.01 * step) * odd.lossFactor(0, step);
            const double ofAll = (2.05 - 0.01 * step) * odd.lossFactor(0, step);
            own += QString(" %1").arg(ofRank, 0, 'f', 3);
            mean += QString(" %1").arg(ofAll, 0, 'f', 3);
        }
        QCOMPARE(lint(odd, own.toStdString() + "\n"), QStringLiteral("logged_loss"));
        QCOMPARE(lint(odd, mean.toStdString() + "\n"), QString());
        QCOMPARE(lint(clean, "0 step_skipped @1: 0 0 1\n1 step_skipped @1: 0 0 0\n"),
                 QStringLiteral("scaler_one_rank"));
        QCOMPARE(lint(clean, evaluated(2, 7, -1)), QString());
        QCOMPARE(lint(clean, evaluated(2, 7, 4)), QStringLiteral("evaluation_counts"));
    }

    void anEvaluationThatCountsItsPaddingIsFound_data()
    {
        QTest::addColumn<int>("world");
        QTest::addColumn<int>("setSize");
        QTest::addColumn<int>("from"); // first evaluation that counts the padding; -1: none
        QTest::addColumn<int>("rank");
        QTest::newRow("two ranks, at once") << 2 << 7 << 2 << 1;
        QTest::newRow("four ranks, later") << 4 << 9 << 4 << 1;
        QTest::newRow("three ranks, one repeat") << 3 << 11 << 2 << 2;
        QTest::newRow("more ranks than samples") << 4 << 3 << 2 << 3;
        QTest::newRow("nothing to pad") << 2 << 8 << 2 << -1;
        QTest::newRow("left out") << 3 << 7 << -1 << -1;
    }
    void anEvaluationThatCountsItsPaddingIsFound()
    {
        QFETCH(int, world);
        QFETCH(int, setSize);
        QFETCH(int, from);
        QFETCH(int, rank);
        DdpTrace trace;
        trace.world = world;
        const std::string right = trace.text() + evaluated(world, setSize, -1);
        const std::string wrong = trace.text() + evaluated(world, setSize, from);
        const Diagnosis d = Pair(right, wrong).diagnosis();
        QCOMPARE(causesOf(d), rank < 0 ? QString() : QStringLiteral("F9"));
        // Both count it: then the runs do not differ in it.
        QCOMPARE(causesOf(Pair(wrong, wrong).diagnosis()), QString());
        if (rank < 0)
            return;
        QCOMPARE(d.findings.front().certainty, Certainty::Likely);
        QCOMPARE(d.findings.front().step, std::int64_t(from));
        QCOMPARE(d.findings.front().rank, rank);
        QCOMPARE(d.firstStep, std::int64_t(from));
    }
};

QTEST_APPLESS_MAIN(TestDiagnose)
#include "tst_diagnose.moc"
