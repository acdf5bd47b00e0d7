// Text in, text out: two traces and the comparison they must give.
#include "support/trace_dsl.h"

#include <QtTest>

using namespace lockstep;
using test::compareTraces;

namespace {

class Case
{
public:
    std::string operator()(const std::string& a, const std::string& b, const CompareOptions& options = {})
    {
        return compareTraces(dir_.path().toStdString(), a, b, options);
    }

private:
    QTemporaryDir dir_;
};

CompareOptions mode(const char* text)
{
    CompareOptions options;
    options.tolerance = *parseTolerance(text);
    return options;
}

} // namespace

#define QCOMPARE_TEXT(actual, expected) QCOMPARE(QString::fromStdString(actual), QStringLiteral(expected))

class TestCompare : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void equalRunsAreEqual()
    {
        const char* run = "0 loss @1: 2.5 2.25 2\n0 param_fingerprint @0: 1 2 3 4\n0 time_step @1: 1 2 3\n";
        QCOMPARE_TEXT(Case()(run, run), "equal, rank by rank, exact, steps 0 to 3\n"
                                        "loss: 3 points\n"
                                        "param_fingerprint: 4 points\n");
    }

    void wallTimesAreNeverCompared()
    {
        QCOMPARE_TEXT(Case()("0 loss @1: 1\n0 time_step @1: 5\n", "0 loss @1: 1\n0 time_step @1: 6\n"),
                      "equal, rank by rank, exact, steps 1 to 1\n"
                      "loss: 1 points\n");
        QCOMPARE_TEXT(
            Case()("0 time_step @1: 5\n", "0 time_step @1: 5\n"),
            "cannot_compare: the runs have no quantity and step in common that could be compared\n");
    }

    void differencesComeInCausalOrderWithRankAndValues()
    {
        QCOMPARE_TEXT(Case()("world 2\nmode ddp\n"
                             "0 loss @1: 4 3 2\n1 loss @1: 4 3 2\n"
                             "0 grad_norm @1: 1 1 1\n1 grad_norm @1: 1 1 1\n"
                             "0 sample_ids @1: 7 8 9\n1 sample_ids @1: 7 8 9\n"
                             "0 param_fingerprint @0: 1 2 3 4\n1 param_fingerprint @0: 1 2 3 4\n",
                             "world 2\nmode ddp\n"
                             "0 loss @1: 4 3 2\n1 loss @1: 4 3 2.5\n"
                             "0 grad_norm @1: 1 1 5\n1 grad_norm @1: 1 6 5\n"
                             "0 sample_ids @1: 7 8 9\n1 sample_ids @1: 7 8 9\n"
                             "0 param_fingerprint @0: 1 2 3 5\n1 param_fingerprint @0: 1 2 3 5\n"),
                      "differ, rank by rank, exact, steps 0 to 3\n"
                      "sample_ids: 6 points\n"
                      "loss: 6 points, differs at step 3 rank 1: 2 | 2.5\n"
                      "grad_norm: 5 points, differs at step 2 rank 1: 1 | 6\n"
                      "param_fingerprint: 8 points, differs at step 3 rank 0: 4 | 5\n");
    }

    void theOriginIsTheEarliestStepThenTheEarliestLink()
    {
        QTemporaryDir dir;
        const auto a = test::writeTrace(dir.filePath(QStringLiteral("a")).toStdString(),
                                        "0 loss @1: 1 1 1\n0 grad_norm @1: 1 1 1\n0 update_norm @1: 1 1 1\n");
        const auto b = test::writeTrace(dir.filePath(QStringLiteral("b")).toStdString(),
                                        "0 loss @1: 1 1 9\n0 grad_norm @1: 1 9 9\n0 update_norm @1: 1 9 9\n");
        RunReader readerA = *RunReader::open(a.folder);
        RunReader readerB = *RunReader::open(b.folder);
        const Result<Comparison> comparison = compareRuns(readerA, a.config, readerB, b.config, {});
        QVERIFY(comparison.ok());
        QCOMPARE(comparison->first().size(), std::size_t(3));
        QVERIFY(comparison->first().front().quantity == Quantity::Loss);
        QVERIFY(comparison->origin()->quantity == Quantity::GradNorm);
        QCOMPARE(comparison->origin()->step, std::int64_t(2));
    }

    void nanEqualsOnlyTheSameNanAndOnlyInExactMode()
    {
        const char* nan = "0 loss @1: 1 nan 3\n";
        QCOMPARE_TEXT(Case()(nan, nan), "equal, rank by rank, exact, steps 1 to 3\nloss: 3 points\n");
        QCOMPARE_TEXT(Case()(nan, "0 loss @1: 1 -nan 3\n"),
                      "differ, rank by rank, exact, steps 1 to 3\n"
                      "loss: 2 points, differs at step 2 rank 0: nan | -nan\n");
        QCOMPARE_TEXT(Case()(nan, nan, mode("abs:100")),
                      "differ, rank by rank, abs:100, steps 1 to 3\n"
                      "loss: 2 points, differs at step 2 rank 0: nan | nan\n");
    }

    void tolerancesApplyToNumbersAndLeaveStateFingerprintsOut()
    {
        QCOMPARE_TEXT(
            Case()("0 loss @1: 1 2\n0 sample_ids @1: 5 6\n0 param_fingerprint @1: 1 2\n",
                   "0 loss @1: 1.01 2.5\n0 sample_ids @1: 5 7\n0 param_fingerprint @1: 8 9\n",
                   mode("abs:0.1")),
            "differ, rank by rank, abs:0.1, steps 1 to 2\n"
            "sample_ids: 2 points, differs at step 2 rank 0: 6 | 7\n"
            "loss: 2 points, differs at step 2 rank 0: 2 | 2.5\n"
            "not compared param_fingerprint: a fingerprint tells only whether all bits are equal\n");
    }

    void aStepMissingInsideTheCommonStretchIsADifference()
    {
        QCOMPARE_TEXT(Case()("0 loss @1: 1 2 3 4\n", "0 loss @1: 1 - 3 4\n"),
                      "differ, rank by rank, exact, steps 1 to 4\n"
                      "loss: 2 points, differs at step 2 rank 0: 2 | missing\n");
        QCOMPARE_TEXT(
            Case()("0 loss @1: 1 2 - 4\n0 lr @1: 1 1 1 1\n", "0 loss @1: 1 2 3 4\n0 lr @1: 1 1 1 1\n"),
            "differ, rank by rank, exact, steps 1 to 4\n"
            "loss: 3 points, differs at step 3 rank 0: missing | 3\n"
            "lr: 4 points\n");
    }

    void aShorterRunIsComparedAsFarAsItGoes()
    {
        QCOMPARE_TEXT(Case()("0 loss @1: 1 2 3 4\n", "0 loss @2: 2 3\n"),
                      "equal, rank by rank, exact, steps 2 to 3\nloss: 2 points\n");
    }

    void nothingInCommonIsNeverEqual()
    {
        QCOMPARE_TEXT(Case()("0 loss @1: 1 2\n", "0 loss @3: 3 4\n"),
                      "cannot_compare: the runs have no step in common (paired by step)\n");
        QCOMPARE_TEXT(Case()("0 loss @1: 1 2\n", ""), "cannot_compare: run B has recorded nothing\n");
        QCOMPARE_TEXT(Case()("0 loss @1: 1\n", "0 grad_norm @1: 1\n"),
                      "cannot_compare: the runs have no quantity and step in common that could be compared\n"
                      "not compared loss: only run A recorded it\n"
                      "not compared grad_norm: only run B recorded it\n");
    }

    void aRankWithoutRecordsIsNeverEqual()
    {
        const char* both = "mode ddp\nworld 2\n0 loss @1: 1 2\n1 loss @1: 1 2\n";
        QCOMPARE_TEXT(Case()(both, "mode ddp\nworld 2\n0 loss @1: 1 2\n"),
                      "cannot_compare: run B has no records of rank 1 of 2\nloss: 2 points\n");
        QCOMPARE_TEXT(Case()(both, "mode ddp\nworld 2\n0 loss @1: 1 3\n"),
                      "differ, rank by rank, exact, steps 1 to 2\n"
                      "loss: 2 points, differs at step 2 rank 0: 2 | 3\n");
    }

    void theParameterIsTheFirstThatDiffersInTheLink()
    {
        const std::string a =
            "0 grad_norm @1: 1 2\n0 param_fingerprint @1: 5 6\n0 buffer_fingerprint @1: 5 6\n"
            "0 tensor 2 fc.weight reduced 1 10\n0 tensor 2 fc.bias reduced 1 11\n"
            "0 tensor 2 fc.weight state 3 30\n0 tensor 2 fc.bias state 3 31\n"
            "0 tensor 2 bn.mean buffer 4 40\n";
        const std::string b =
            "0 grad_norm @1: 1 3\n0 param_fingerprint @1: 5 7\n0 buffer_fingerprint @1: 5 7\n"
            "0 tensor 2 fc.weight reduced 1 10\n0 tensor 2 fc.bias reduced 2 12\n"
            "0 tensor 2 fc.weight state 3 32\n0 tensor 2 fc.bias state 3 31\n"
            "0 tensor 2 bn.mean buffer 4 41\n";
        QCOMPARE_TEXT(Case()(a, b),
                      "differ, rank by rank, exact, steps 1 to 2\n"
                      "grad_norm: 2 points, differs at step 2 rank 0 in fc.bias: 2 | 3\n"
                      "param_fingerprint: 2 points, differs at step 2 rank 0 in fc.weight: 6 | 7\n"
                      "buffer_fingerprint: 2 points, differs at step 2 rank 0 in bn.mean: 6 | 7\n");
        QCOMPARE_TEXT(
            Case()(a, b, mode("rel:0.1")),
            "differ, rank by rank, rel:0.1, steps 1 to 2\n"
            "grad_norm: 2 points, differs at step 2 rank 0 in fc.bias: 2 | 3\n"
            "not compared param_fingerprint: a fingerprint tells only whether all bits are equal\n"
            "not compared buffer_fingerprint: a fingerprint tells only whether all bits are equal\n");
    }

    // The single run's step 1 used ids 1..4; rank 0 used 1 2, rank 1 used 3 4.
    void aSingleRunIsComparedWithAWorldAsAWhole()
    {
        const std::string single =
            "mode single\nalign_world 2\n"
            "0 loss @1: 2.5 2\n0 samples[0] @1: 4 4\n0 grad_norm @1: 3 2\n0 sample_ids @1: 1 2\n"
            "0 loss_logged @1: 2.5 2\n0 grad_norm_local @1: 3 2\n0 rng_cpu @1: 1 2\n"
            "0 ids 1.0: 1 2 3 4\n0 ids 2.0: 5 6 7 8\n";
        const std::string ranks =
            "mode ddp\nworld 2\n"
            "0 loss @1: 2 1\n1 loss @1: 3 3\n0 samples[0] @1: 2 2\n1 samples[0] @1: 2 2\n"
            "0 loss_logged @1: 2.5 2\n1 loss_logged @1: 2.5 2\n"
            "0 sample_ids @1: 3 4\n1 sample_ids @1: 5 6\n0 rng_cpu @1: 3 4\n1 rng_cpu @1: 5 6\n"
            "0 grad_norm_local @1: 4 4\n1 grad_norm_local @1: 4 4\n"
            "0 collective_count @1: 1 1\n1 collective_count @1: 1 1\n"
            "0 ids 1.0: 1 2\n1 ids 1.0: 3 4\n0 ids 2.0: 5 6\n";
        const char* notes =
            "not compared rng_cpu: it belongs to one rank and has no counterpart in a run with other ranks\n"
            "not compared grad_norm_local: it belongs to one rank and has no counterpart in a run with other "
            "ranks\n"
            "not compared collective_count: only run B recorded it\n";
        const std::string good = ranks + "0 grad_norm @1: 3 2\n1 grad_norm @1: 3 2\n1 ids 2.0: 7 8\n";
        QCOMPARE(QString::fromStdString(Case()(single, good, mode("exact"))),
                 QStringLiteral("equal, whole runs, exact, steps 1 to 2\n"
                                "samples: 2 points\n"
                                "sample_ids: 2 points\n"
                                "loss: 2 points\n"
                                "grad_norm: 4 points\n"
                                "loss_logged: 2 points\n") +
                     QLatin1String(notes));
        const std::string swapped = ranks + "0 grad_norm @1: 3 2\n1 grad_norm @1: 3 2.5\n1 ids 2.0: 8 7\n";
        const std::string found = Case()(swapped, single, mode("exact"));
        QVERIFY2(found.find("sample_ids: 2 points, differs at step 2: ") != std::string::npos, found.c_str());
        QVERIFY2(found.find("grad_norm: 4 points, differs at step 2 rank 1: 2.5 | 2\n") != std::string::npos,
                 found.c_str());
        // Every world-th sample, as DistributedSampler deals: the same samples, which is enough where rounding is.
        const std::string close = Case()(swapped, single, mode("rel:1e-3"));
        QVERIFY2(close.find("sample_ids: 2 points\n") != std::string::npos, close.c_str());
        const std::string other = ranks + "0 grad_norm @1: 3 2\n1 grad_norm @1: 3 2\n1 ids 2.0: 8 9\n";
        const std::string found9 = Case()(other, single, mode("rel:1e-3"));
        QVERIFY2(found9.find("sample_ids: 2 points, differs at step 2: ") != std::string::npos,
                 found9.c_str());
    }

    void unequalSharesAreWeightedBySamplesAndByTokensWhereKnown()
    {
        const std::string single = "align_world 2\n0 loss @1: 1.75\n0 samples[0] @1: 4\n";
        const std::string ranks =
            "mode ddp\nworld 2\n0 loss @1: 1\n1 loss @1: 2\n0 samples[0] @1: 1\n1 samples[0] @1: 3\n";
        QCOMPARE_TEXT(Case()(single, ranks, mode("exact")), "equal, whole runs, exact, steps 1 to 1\n"
                                                            "samples: 1 points\nloss: 1 points\n");
        QCOMPARE_TEXT(Case()("align_world 2\n0 loss @1: 1.25\n0 samples[0] @1: 4\n0 tokens[0] @1: 8\n",
                             ranks + "0 tokens[0] @1: 6\n1 tokens[0] @1: 2\n", mode("exact")),
                      "equal, whole runs, exact, steps 1 to 1\n"
                      "samples: 1 points\ntokens: 1 points\nloss: 1 points\n");
    }

    void withoutModeOrEnvelopeAWholeComparisonSaysHowFarApart()
    {
        QCOMPARE_TEXT(
            Case()("align_world 2\n0 loss @1: 1 2 3\n",
                   "mode ddp\nworld 2\n0 loss @1: 1 2 3\n1 loss @1: 1 2.5 4\n"),
            "differ, whole runs, exact, steps 1 to 3\n"
            "loss: 3 points, differs at step 2: 2 | 2.25; 2 unequal, at most 0.5 apart at step 3\n");
    }

    void theEnvelopeModeNeedsAnEnvelope()
    {
        QCOMPARE_TEXT(
            Case()("0 loss @1: 1\n", "0 loss @1: 1\n", mode("envelope")),
            "Cannot compare inside the envelope. The project has not measured one. Run lockstep-cli gate DIR "
            "gradients, which measures it, or choose another mode.\n");
    }

    void collectivesCountOnlyBetweenRunsThatReduceAlike()
    {
        const std::string a = "mode ddp\nworld 1\n0 loss @1: 1\n0 collective_count @1: 2\n";
        const std::string b = "mode ddp\nworld 1\n0 loss @1: 1\n0 collective_count @1: 3\n";
        QCOMPARE_TEXT(Case()(a, b), "differ, rank by rank, exact, steps 1 to 1\n"
                                    "loss: 1 points\n"
                                    "collective_count: 1 points, differs at step 1 rank 0: 2 | 3\n");
        QCOMPARE_TEXT(Case()(a, "bucket_mb 5\n" + b),
                      "equal, rank by rank, exact, steps 1 to 1\n"
                      "loss: 1 points\n"
                      "not compared collective_count: the runs reduce in different ways\n");
    }

    void pairingBySamplesSeenFollowsTheSamples()
    {
        CompareOptions options = mode("exact");
        options.by = PairBy::Samples;
        QCOMPARE_TEXT(Case()("0 samples_seen @1: 32 64 96 128\n0 loss @1: 4 3 2 1\n",
                             "0 samples_seen @1: 64 128 192\n0 loss @1: 3 9 0\n", options),
                      "differ, rank by rank, exact, steps 2 to 4\n"
                      "samples_seen: 2 points\n"
                      "loss: 2 points, differs at step 4/2 rank 0: 1 | 9\n");
    }

    void pairingByIdFindsTheSameSamplesAtOtherSteps()
    {
        CompareOptions options = mode("exact");
        options.by = PairBy::Id;
        options.only = {Quantity::Loss};
        QCOMPARE_TEXT(Case()("0 loss @1: 10 20 30\n0 ids 1.0: 1 2\n0 ids 2.0: 3 4\n0 ids 3.0: 1 2\n",
                             "0 loss @1: 20 10 31\n0 ids 1.0: 4 3\n0 ids 2.0: 2 1\n0 ids 3.0: 2 1\n",
                             options),
                      "differ, rank by rank, exact, steps 1 to 3\n"
                      "loss: 3 points, differs at step 3 rank 0: 30 | 31\n");
    }

    void theStretchCanBeLimited()
    {
        CompareOptions options = mode("exact");
        options.from = 2;
        options.to = 4;
        QCOMPARE_TEXT(Case()("0 loss @1: 1 2 3 4\n", "0 loss @1: 9 2 3 9\n", options),
                      "equal, rank by rank, exact, steps 2 to 3\nloss: 2 points\n");
    }

    void differingConfigurationKeysAreListed()
    {
        QTemporaryDir dir;
        auto a = test::writeTrace(dir.filePath(QStringLiteral("a")).toStdString(), "0 loss @1: 1\n");
        auto b = test::writeTrace(dir.filePath(QStringLiteral("b")).toStdString(), "0 loss @1: 1\n");
        a.config.name = "one";
        b.config.name = "two";
        b.config.seed = 7;
        RunReader readerA = *RunReader::open(a.folder);
        RunReader readerB = *RunReader::open(b.folder);
        const Result<Comparison> comparison = compareRuns(readerA, a.config, readerB, b.config, {});
        QVERIFY(comparison.ok());
        QVERIFY(comparison->verdict == Verdict::Equal);
        QCOMPARE(comparison->config.size(), std::size_t(1));
        QCOMPARE(comparison->config.front().key, std::string("seed"));
        QCOMPARE(comparison->config.front().b, std::string("7"));
    }
};

QTEST_GUILESS_MAIN(TestCompare)
#include "tst_compare.moc"
