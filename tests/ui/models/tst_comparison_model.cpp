// Which run is compared with which, and what the window says about it.
#include "core/gates/kept_envelope.h"
#include "ui/models/comparison_model.h"
#include "ui/models/comparison_rule.h"
#include "ui/models/project_model.h"
#include "ui/support/project_fixture.h"
#include "ui/support/rank_run.h"

#include <QSignalSpy>
#include <QTest>

using namespace lockstep;
using namespace lockstep::test;

namespace {

void addFault(RunConfig& config)
{
    config.faults.push_back({"B2", {}});
}

} // namespace

class ComparisonModelTest : public QObject
{
    Q_OBJECT

private:
    // Opens the project and waits for the verdict of `run`.
    static RunVerdict verdictOf(ProjectFixture& project, const QString& run)
    {
        ProjectModel model;
        ComparisonModel comparisons;
        connect(&model, &ProjectModel::changed, &comparisons, &ComparisonModel::setSnapshot);
        model.open(project.folder());
        if (!QTest::qWaitFor([&] { return comparisons.verdicts().contains(run); }))
            return {};
        return comparisons.verdicts().value(run);
    }

private Q_SLOTS:
    void aFaultyRunIsHeldAgainstTheSameRunWithoutTheFault()
    {
        ProjectFixture project;
        project.finished("single", 2);
        const QString clean = project.finished("ddp", 2);
        const QString faulty = project.finished("ddp", 2, 1e-9, 17, addFault);
        const RunVerdict verdict = verdictOf(project, faulty);
        QCOMPARE(verdict.against, clean);
        QCOMPARE(verdict.state, State::Diverged);
        QCOMPARE(verdict.firstStep, std::int64_t(17)); // one bit is enough
        QCOMPARE(verdict.link, QStringLiteral("forward loss"));
    }

    void equalRunsDifferInZeroBits()
    {
        ProjectFixture project;
        const QString first = project.finished("single", 2);
        const QString second = project.finished("single", 2);
        const RunVerdict verdict = verdictOf(project, second);
        QCOMPARE(verdict.against, first);
        QCOMPARE(verdict.state, State::Holds);
        QCOMPARE(verdict.sentence, QStringLiteral("0 bits differ"));
    }

    void driftAfterTheFirstBatchIsToldButNotCalledDiverged()
    {
        ProjectFixture project;
        const QString single = project.finished("single", 2);
        const QString ddp = project.finished("ddp", 2, 1e-3, 30, [](RunConfig&) {});
        RunVerdict verdict = verdictOf(project, ddp);
        QCOMPARE(verdict.against, single);
        // The fixture's second rank has another loss, so the first batch parts by 0.005 already.
        QCOMPARE(verdict.state, State::Diverged);
        QCOMPARE(verdict.firstStep, std::int64_t(1));
    }

    void batchStatisticsMakeTheFunctionDifferByDesign()
    {
        ProjectFixture project;
        RankRun single(project, 1, "single"), ddp(project, 2);
        const auto record = [](RankRun& run, int ranks, double offset) {
            for (std::int64_t step = 1; step <= 5; ++step)
                for (int rank = 0; rank < ranks; ++rank)
                    run.record(rank, step,
                               {{Quantity::Loss, 0, bitsOf(plainLoss(rank, step) + offset)},
                                {Quantity::BufferFingerprint, 0, std::uint64_t(step * 31 + rank)}});
            run.commit();
            run.finish();
        };
        record(single, 1, 0);
        record(ddp, 2, 0.3); // far beyond 4 decimals at step 1
        const RunVerdict verdict = verdictOf(project, ddp.id());
        QCOMPARE(verdict.state, State::CannotCompare);
        QCOMPARE(verdict.sentence, QStringLiteral("differs by design"));
        QVERIFY(verdict.explanation.contains(QStringLiteral("BatchNorm")));
        QVERIFY(verdict.explanation.contains(QStringLiteral("twin")));
    }

    // The chain names the link that the verdict names: how many samples a step has belongs to the settings.
    void aBrokenConfigLinkIsMarkedInTheChain()
    {
        ProjectFixture project;
        RankRun single(project, 1, "single"), ddp(project, 2);
        const auto record = [](RankRun& run, int ranks, std::uint64_t samples) {
            for (std::int64_t step = 1; step <= 5; ++step)
                for (int rank = 0; rank < ranks; ++rank)
                    run.record(rank, step,
                               {{Quantity::SamplesSeen, 0, std::uint64_t(step) * samples},
                                {Quantity::Loss, 0, bitsOf(plainLoss(0, step))}});
            run.commit();
            run.finish();
        };
        record(single, 1, 32);
        record(ddp, 2, 64); // the batch of the single process on each of two ranks
        ProjectModel model;
        model.open(project.folder());
        QTRY_VERIFY(model.isOpen());
        const ProjectSnapshotPtr snapshot = model.snapshot();
        const RunComparison result =
            compareEntries(*snapshot->run(single.id()), *snapshot->run(ddp.id()), {});
        QCOMPARE(result.verdict, State::Diverged);
        QCOMPARE(result.firstLink, QStringLiteral("config"));
        const LinkRow& config = result.links.at(0);
        QCOMPARE(config.title, result.firstLink);
        QCOMPARE(config.state, State::Diverged);
        QCOMPARE(config.firstStep, result.firstStep);
        // A script counts on each rank by itself and may deal its batch otherwise: the diagnosis does not go by that either.
        RunEntry script = *snapshot->run(ddp.id());
        script.config.workloadOptions["script"] = "train.py";
        QVERIFY(compareEntries(*snapshot->run(single.id()), script, {}).firstLink !=
                QStringLiteral("config"));
    }

    void underMixedPrecisionOnlyTheSamplesAreJudged()
    {
        ProjectFixture project;
        const auto amp = [](RunConfig& config) { config.amp = "bf16"; };
        project.finished("single", 2, 0, 0, amp);
        const QString ddp = project.finished("ddp", 2, 0.1, 1, amp);
        const RunVerdict verdict = verdictOf(project, ddp);
        QCOMPARE(verdict.state, State::CannotCompare);
        QVERIFY(verdict.explanation.contains(QStringLiteral("Mixed precision")));
    }

    void theMeasuredEnvelopeJudgesAndItsBandIsKept()
    {
        ProjectFixture project;
        const QString inside = project.finished("ddp", 2);
        const QString single = project.finished("single", 2);
        Envelope envelope;
        envelope.repeats = 8;
        EnvelopeBand& band = envelope.bands[{Quantity::Loss, 0}];
        band.steps = {1};
        band.limits = {0.01}; // times scale 2; the means of the fixture lie 0.005 apart
        band.lastStep = 30;
        envelope.bands[{Quantity::GradNorm, 0}] = band;
        QVERIFY(keepEnvelope(project.folder().toStdString(), &envelope).ok());
        const RunVerdict verdict = verdictOf(project, inside);
        QCOMPARE(verdict.against, single);
        QCOMPARE(verdict.state, State::Holds);
        QCOMPARE(verdict.sentence, QStringLiteral("inside the envelope"));
        QVERIFY2(verdict.explanation.contains(QStringLiteral("step 30")), qPrintable(verdict.explanation));
        QVERIFY(keepEnvelope(project.folder().toStdString(), nullptr).ok());
        QCOMPARE(verdictOf(project, inside).state, State::Diverged); // 4 decimals again
    }

    void underMixedPrecisionTheEnvelopeOfItsOwnGateJudges()
    {
        ProjectFixture project;
        const auto amp = [](RunConfig& config) {
            config.amp = "bf16";
            config.clipNorm = 1;
        };
        project.finished("single", 2, 0, 0, amp);
        const QString ddp = project.finished("ddp", 2, 0, 0, amp);
        Envelope envelope;
        envelope.repeats = 8;
        EnvelopeBand& band = envelope.bands[{Quantity::Loss, 0}];
        band.steps = {1};
        band.limits = {0.01};
        band.lastStep = 40;
        envelope.bands[{Quantity::GradNorm, 0}] = band;
        RunConfig trained;
        trained.alignWorld = 2;
        amp(trained);
        QVERIFY(keepEnvelope(project.folder().toStdString(), &envelope).ok()); // full precision: not theirs
        QCOMPARE(verdictOf(project, ddp).state, State::CannotCompare);
        QVERIFY(keepEnvelope(project.folder().toStdString(), &envelope, KeptBy::Precision, trained).ok());
        QCOMPARE(verdictOf(project, ddp).state, State::Holds);
        trained.lr *= 2;
        QVERIFY(keepEnvelope(project.folder().toStdString(), &envelope, KeptBy::Precision, trained).ok());
        QCOMPARE(verdictOf(project, ddp).state, State::CannotCompare); // of other runs
    }

    void anEnvelopeOfOtherRunsIsNotUsed()
    {
        RunConfig measured, run;
        measured.mode = run.mode = "ddp";
        measured.world = 4;
        measured.batch = 8;
        run.world = 2;
        run.batch = 16; // the same global batch
        run.threads = 3;
        QVERIFY(envelopeSpeaksOf(measured, run));
        run.lr *= 2;
        QVERIFY(!envelopeSpeaksOf(measured, run));
        run.lr = measured.lr;
        run.clipNorm = 1;
        QVERIFY(!envelopeSpeaksOf(measured, run));
    }

    void theEnvelopeOfAScriptSpeaksOfItsTwoHalves()
    {
        ProjectFixture project;
        const std::string folder = project.folder().toStdString();
        RunConfig ddp, single;
        ddp.mode = "ddp";
        ddp.world = 4;
        ddp.batch = 8;
        ddp.clipNorm = single.clipNorm = 1;
        ddp.workload = "train_ddp";
        ddp.workloadOptions = {
            {"script", "train_ddp.py"}, {"sampler", "DistributedSampler"}, {"dataset_length", "40"}};
        single.workload = "train";
        single.workloadOptions = {
            {"script", "train.py"}, {"command", "python train.py"}, {"dataset_length", "40"}};
        Envelope envelope;
        envelope.repeats = 5;
        QVERIFY(keepEnvelope(folder, &envelope, KeptBy::Precision, ddp).ok());
        const auto kept = [&] { return keptEnvelope(folder, {}, single, ddp); };
        QVERIFY(kept().ok() && kept()->has_value());
        single.workloadOptions["dataset_length"] = "41";
        QVERIFY(kept().ok() && !kept()->has_value());
        single.workloadOptions["dataset_length"] = "40";
        ddp.workload = "another"; // a model of its own may be set up in the same way
        QVERIFY(kept().ok() && !kept()->has_value());
    }

    void aRunThatIsWatchedIsComparedAgainWhileItRecords()
    {
        ProjectFixture project;
        const QString clean = project.finished("ddp", 2);
        auto run = project.start("ddp", 2, addFault);
        const auto faulty = [](int rank, std::int64_t step) {
            return plainLoss(rank, step) + (step >= 12 ? 0.1 : 0);
        };
        run->record(1, 8, faulty);
        ProjectModel model;
        ComparisonModel comparisons;
        connect(&model, &ProjectModel::changed, &comparisons, &ComparisonModel::setSnapshot);
        RunComparisonPtr last;
        connect(&comparisons, &ComparisonModel::compared, this, [&](const RunComparisonPtr& c) { last = c; });
        model.open(project.folder());
        QTRY_VERIFY(model.isOpen());
        comparisons.watch(clean, run->id());
        QTRY_VERIFY(last);
        QCOMPARE(last->verdict, State::Holds);
        QVERIFY(last->live);
        run->record(9, 20, faulty);
        QTRY_COMPARE(last->verdict, State::Diverged);
        QCOMPARE(last->firstStep, std::int64_t(12));
        // The strip: causes before the break hold, the break is the only one of its kind.
        int broken = 0;
        for (const LinkRow& link : last->links)
            broken += link.state == State::Diverged;
        QCOMPARE(broken, 1);
        QCOMPARE(last->links[std::size_t(CausalLink::SampleIds)].state, State::Holds);
        QCOMPARE(last->links[std::size_t(CausalLink::Reduced)].state, State::Follows);
        run->finish();
    }

    void runsWithoutACommonStepCannotBeCompared()
    {
        ProjectFixture project;
        auto a = project.start("ddp", 2);
        a->record(1, 5, plainLoss);
        a->finish();
        auto b = project.start("ddp", 2, addFault);
        b->record(50, 55, plainLoss);
        b->finish();
        const RunVerdict verdict = verdictOf(project, b->id());
        QCOMPARE(verdict.state, State::CannotCompare);
        QVERIFY(!verdict.explanation.isEmpty());
    }
};

QTEST_GUILESS_MAIN(ComparisonModelTest)
#include "tst_comparison_model.moc"
