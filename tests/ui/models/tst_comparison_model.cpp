// Which run is compared with which, and what the window says about it.
#include "ui/models/comparison_model.h"
#include "ui/models/project_model.h"
#include "ui/support/project_fixture.h"

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
