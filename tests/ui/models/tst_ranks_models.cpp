// What must be equal on all ranks, and the values of one cell of the Ranks page.
#include "ui/models/project_model.h"
#include "ui/models/ranks_cell_model.h"
#include "ui/models/ranks_equality_model.h"
#include "ui/support/rank_run.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

#include <cmath>
#include <functional>

using namespace lockstep;
using namespace lockstep::test;

namespace {

using Bits = std::function<std::uint64_t(int rank, std::int64_t step)>;

void append(RanksEqualityScan& scan, Quantity quantity, int rank, std::int64_t first, std::int64_t last,
            const Bits& bits)
{
    std::vector<std::int64_t> steps;
    std::vector<std::uint64_t> values;
    for (std::int64_t step = first; step <= last; ++step) {
        steps.push_back(step);
        values.push_back(bits(rank, step));
    }
    scan.append({rank, quantity, 0}, steps, values);
}

RankEquality scanned(Quantity quantity, int ranks, std::int64_t last, const Bits& bits, bool sharded = false)
{
    RanksEqualityScan scan;
    for (int rank = 0; rank < ranks; ++rank)
        append(scan, quantity, rank, 0, last, bits);
    scan.compare(ranks, true);
    const std::vector<RankEquality> rows = scan.result(sharded);
    return rows.size() == 1 ? rows.front() : RankEquality{};
}

std::uint64_t same(int, std::int64_t step)
{
    return std::uint64_t(step) * 7919 + 1;
}

std::vector<StepValue> values(int rank, std::int64_t step, std::uint64_t parameters)
{
    return {{Quantity::Loss, 0, bitsOf(2.0 + rank)},
            {Quantity::TimeStep, 0, bitsOf(0.0125)},
            {Quantity::ParamFingerprint, 0, parameters},
            {Quantity::SampleIds, 0, std::uint64_t(step * 10 + rank)}};
}

RunEntry entryOf(ProjectFixture& project, const QString& id)
{
    ProjectModel model;
    model.open(project.folder());
    if (!QTest::qWaitFor([&] { return model.isOpen() && model.snapshot()->run(id); }))
        return {};
    return *model.snapshot()->run(id);
}

QString row(const QAbstractItemModel& model, int row)
{
    QStringList cells;
    for (int column = 0; column < model.columnCount(); ++column)
        cells << model.index(row, column).data().toString();
    return cells.join(QStringLiteral(" | "));
}

} // namespace

class RanksModelsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void equalRanksHold()
    {
        const RankEquality found = scanned(Quantity::ParamFingerprint, 4, 99, same);
        QVERIFY(!found.broken());
        QCOMPARE(found.steps, std::int64_t(100)); // step 0 counts
        QCOMPARE(found.ranks, 4);
    }

    void theRankThatLeavesTheMajorityIsNamed()
    {
        const RankEquality found =
            scanned(Quantity::ParamFingerprint, 4, 99, [](int rank, std::int64_t step) {
                return same(rank, step) ^ (rank == 2 && step >= 41 ? 1u : 0u);
            });
        QVERIFY(found.broken());
        QCOMPARE(found.firstDifferent, std::int64_t(41));
        QCOMPARE(found.differentRank, 2);
    }

    void theMajorityDecidesAlsoAgainstRankZero()
    {
        const RankEquality found =
            scanned(Quantity::OptimizerFingerprint, 3, 9,
                    [](int rank, std::int64_t step) { return same(rank, step) ^ (rank == 0 ? 1u : 0u); });
        QCOMPARE(found.firstDifferent, std::int64_t(0));
        QCOMPARE(found.differentRank, 0);
    }

    void severalRanksThatDifferAreCounted()
    {
        const RankEquality found = scanned(Quantity::ParamFingerprint, 4, 9, [](int rank, std::int64_t step) {
            return std::uint64_t(step * 8 + rank);
        });
        QCOMPARE(found.differentRank, 1);
        QCOMPARE(equalitySentence(found), QStringLiteral("parameters differ on 3 of 4 ranks from step 0"));
    }

    void shardsMayDiffer()
    {
        const Bits own = [](int rank, std::int64_t step) { return std::uint64_t(step * 8 + rank); };
        QVERIFY(scanned(Quantity::ParamFingerprint, 4, 9, own).broken());
        QVERIFY(!scanned(Quantity::ParamFingerprint, 4, 9, own, true).broken());
    }

    void buffersMayDiffer()
    {
        const Bits own = [](int rank, std::int64_t step) { return std::uint64_t(step * 8 + rank); };
        QVERIFY(!scanned(Quantity::BufferFingerprint, 4, 9, own).broken());
    }

    void repeatedSampleIdsAreNamedWithBothRanks()
    {
        const RankEquality found = scanned(Quantity::SampleIds, 4, 99, [](int rank, std::int64_t step) {
            return std::uint64_t(step * 8 + (rank == 3 && step >= 30 ? 1 : rank));
        });
        QVERIFY(found.broken());
        QCOMPARE(found.firstRepeated, std::int64_t(30));
        QCOMPARE(found.repeatedRank, 3);
        QCOMPARE(found.repeatedOf, 1);
    }

    void aStepIsComparedOnceAllRanksHaveReachedIt()
    {
        RanksEqualityScan scan;
        append(scan, Quantity::ParamFingerprint, 0, 0, 9, same);
        scan.compare(2, false);
        QCOMPARE(scan.result(false).front().steps, std::int64_t(0));
        append(scan, Quantity::ParamFingerprint, 1, 0, 4, same);
        scan.compare(2, false);
        QCOMPARE(scan.result(false).front().steps, std::int64_t(5));
        append(scan, Quantity::ParamFingerprint, 1, 5, 9,
               [](int rank, std::int64_t step) { return same(rank, step) + (step == 9 ? 1 : 0); });
        scan.compare(2, true);
        QCOMPARE(scan.result(false).front().steps, std::int64_t(10));
        QCOMPARE(scan.result(false).front().firstDifferent, std::int64_t(9));
    }

    void oneRankAloneCannotBeCompared()
    {
        const RankEquality found = scanned(Quantity::ParamFingerprint, 1, 9, same);
        QCOMPARE(found.steps, std::int64_t(0));
        QVERIFY(!found.broken());
    }

    void theTableFollowsARunningRunToItsEnd()
    {
        ProjectFixture project;
        RankRun run(project, 2);
        for (std::int64_t step = 0; step < 20; ++step)
            for (int rank = 0; rank < 2; ++rank)
                run.record(rank, step, values(rank, step, same(rank, step)));
        run.commit();
        RanksEqualityModel model;
        const QAbstractItemModelTester tester(&model);
        RunEntry entry = entryOf(project, run.id());
        QVERIFY(entry.running());
        model.setRun(&entry);
        QTRY_COMPARE(model.rowCount(), 2);
        QCOMPARE(row(model, 0), QStringLiteral("parameters | equal | 20 step(s)"));
        QCOMPARE(row(model, 1), QStringLiteral("sample ids | 2 distinct | 20 step(s)"));
        QVERIFY(!model.firstBroken());
        // Rank 0 is ahead; rank 1 has the fault in the step that only the end of the run makes complete.
        run.record(0, 20, values(0, 20, same(0, 20)));
        run.commit();
        run.record(1, 20, values(1, 20, 99));
        run.finish();
        entry = entryOf(project, run.id());
        QVERIFY(!entry.running());
        model.setRun(&entry);
        QTRY_COMPARE(row(model, 0), QStringLiteral("parameters | differ | rank 1, step 20"));
        QCOMPARE(model.index(0, RanksEqualityModel::Verdict).data(StateRole).toInt(), int(State::Diverged));
        QVERIFY(model.firstBroken());
        QCOMPARE(equalitySentence(*model.firstBroken()),
                 QStringLiteral("parameters differ on rank 1 from step 20"));
        model.setRun(nullptr);
        QCOMPARE(model.rowCount(), 0);
    }

    void theCellShowsTheRankBesideTheMedian()
    {
        ProjectFixture project;
        RankRun run(project, 3);
        for (int rank = 0; rank < 3; ++rank)
            run.record(rank, 5, values(rank, 5, rank == 2 ? 8 : 7));
        run.finish();
        const RunEntry entry = entryOf(project, run.id());
        RanksCellModel model;
        const QAbstractItemModelTester tester(&model);
        const QString folder = QString::fromStdString(entry.info.folder);
        model.setCell({folder, 3, 2, 5});
        QTRY_COMPARE(model.rowCount(), 4);
        QCOMPARE(row(model, 0), QStringLiteral("loss | 4.000000 | 3.000000"));
        QCOMPARE(row(model, 1), QStringLiteral("step time, ms | 12.50 | 12.50"));
        QCOMPARE(row(model, 2), QStringLiteral("parameters | 0000 0000 | 1 of 3 equal"));
        QCOMPARE(model.headerData(RanksCellModel::Value, Qt::Horizontal).toString(),
                 QStringLiteral("rank 2"));
        QCOMPARE(model.index(0, RanksCellModel::Value).data(Qt::ToolTipRole).toString(),
                 QStringLiteral("stored: 4"));
        // A step without a record: no rows, no error.
        QSignalSpy problems(&model, &RanksCellModel::problem);
        model.setCell({folder, 3, 2, 6});
        QTRY_COMPARE(model.rowCount(), 0);
        QCOMPARE(problems.size(), 0);
    }

    void theNewestCellWins()
    {
        ProjectFixture project;
        RankRun run(project, 2);
        for (std::int64_t step = 1; step <= 50; ++step)
            for (int rank = 0; rank < 2; ++rank)
                run.record(rank, step, {{Quantity::Loss, 0, bitsOf(double(step))}});
        run.finish();
        const QString folder = QString::fromStdString(entryOf(project, run.id()).info.folder);
        RanksCellModel model;
        for (qint64 step = 1; step <= 50; ++step)
            model.setCell({folder, 2, 0, step});
        QTRY_VERIFY(!model.busy());
        QCOMPARE(row(model, 0), QStringLiteral("loss | 50.000000 | 50.000000"));
    }

    void aRunThatIsGoneIsToldNotCrashed()
    {
        RanksCellModel model;
        QSignalSpy problems(&model, &RanksCellModel::problem);
        model.setCell({QStringLiteral("/nowhere/runs/x"), 2, 0, 1});
        QTRY_COMPARE(problems.size(), 1);
        QCOMPARE(model.rowCount(), 0);
    }
};

QTEST_GUILESS_MAIN(RanksModelsTest)
#include "tst_ranks_models.moc"
