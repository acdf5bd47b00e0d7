// The live rows of a run's ranks: what is read, how it changes, and who is silent.
#include "ui/models/live_ranks_model.h"
#include "ui/models/project_model.h"
#include "ui/support/rank_run.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

#include <cmath>

using namespace lockstep;
using namespace lockstep::test;

namespace {

std::vector<StepValue> values(double loss, double seconds, std::uint64_t parameters = 0x7f3a90c2'00000000ULL)
{
    return {{Quantity::Loss, 0, bitsOf(loss)},
            {Quantity::TimeStep, 0, bitsOf(seconds)},
            {Quantity::TimeForward, 0, bitsOf(seconds / 4)},
            {Quantity::TimeBackward, 0, bitsOf(seconds * 3 / 4)}, // with the wait
            {Quantity::TimeWait, 0, bitsOf(seconds / 4)},
            {Quantity::ParamFingerprint, 0, parameters}};
}

QString cell(const LiveRanksModel& model, int row, LiveRanksModel::Column column)
{
    return model.index(row, column).data().toString();
}

} // namespace

class LiveRanksTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyRankShowsItsNewestStep()
    {
        ProjectFixture project;
        RankRun run(project, 2);
        run.record(0, 1, values(2.5, 0.1));
        run.record(1, 1, values(2.75, 0.1));
        run.commit();
        ProjectModel open;
        open.open(project.folder());
        QTRY_VERIFY(open.isOpen());
        LiveRanksModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setRun(&open.snapshot()->runs.front());
        QTRY_COMPARE(model.rowCount(), 2);
        QCOMPARE(cell(model, 0, LiveRanksModel::Rank), QStringLiteral("rank 0"));
        QCOMPARE(cell(model, 0, LiveRanksModel::StateColumn), QStringLiteral("training"));
        QCOMPARE(cell(model, 0, LiveRanksModel::Step), QStringLiteral("1 of 1000"));
        QCOMPARE(cell(model, 1, LiveRanksModel::Loss), QStringLiteral("2.750000"));
        QCOMPARE(cell(model, 1, LiveRanksModel::GradNorm), QStringLiteral("-")); // not recorded
        QCOMPARE(cell(model, 0, LiveRanksModel::Milliseconds), QStringLiteral("100"));
        QCOMPARE(cell(model, 0, LiveRanksModel::Parameters), QStringLiteral("7f3a 90c2"));
        const QVariantList shares =
            model.index(0, LiveRanksModel::Split).data(LiveRanksModel::kSharesRole).toList();
        QCOMPARE(shares.size(), qsizetype(LiveRank::PartCount));
        QCOMPARE(shares[LiveRank::Forward].toDouble(), 0.25);
        QCOMPARE(shares[LiveRank::Backward].toDouble(), 0.5);
        QVERIFY(model.index(0, LiveRanksModel::Split)
                    .data(Qt::AccessibleTextRole)
                    .toString()
                    .contains(QStringLiteral("backward 50 %")));

        // Rows change in place while it trains, one rank ahead of the other.
        QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
        run.record(0, 2, values(2.25, 0.2, 1));
        run.commit();
        QTRY_COMPARE(cell(model, 0, LiveRanksModel::Step), QStringLiteral("2 of 1000"));
        QCOMPARE(cell(model, 1, LiveRanksModel::Step), QStringLiteral("1 of 1000"));
        QCOMPARE(reset.size(), 0);
        const auto tone = [&](int row) {
            return model.index(row, LiveRanksModel::Parameters).data(ToneRole).toInt();
        };
        QCOMPARE(cell(model, 0, LiveRanksModel::Parameters),
                 QStringLiteral("7f3a 90c2")); // of step 1, as rank 1's
        QCOMPARE(tone(1), int(Tone::Normal));
        run.record(1, 2, values(2.25, 0.2, 2));
        run.commit();
        QTRY_COMPARE(tone(1), int(Tone::Red));

        run.finish();
        QTRY_COMPARE(open.snapshot()->runs.front().info.state, RunState::Finished);
        model.setRun(&open.snapshot()->runs.front());
        QTRY_COMPARE(cell(model, 1, LiveRanksModel::StateColumn), QStringLiteral("finished"));
        model.setRun(nullptr);
        QCOMPARE(model.rowCount(), 0);
    }

    void theRankThatBrokeTheRunIsMarked()
    {
        ProjectFixture project;
        RankRun run(project, 2);
        for (int rank : {0, 1})
            run.record(rank, 1, values(1, 0.1));
        run.finish();
        ProjectModel open;
        open.open(project.folder());
        QTRY_VERIFY(open.isOpen());
        RunEntry entry = open.snapshot()->runs.front();
        entry.info.state = RunState::Failed;
        entry.info.firstFailure.rank = 1;
        LiveRanksModel model;
        model.setRun(&entry);
        QTRY_COMPARE(model.rowCount(), 2);
        QCOMPARE(cell(model, 0, LiveRanksModel::StateColumn), QStringLiteral("ended"));
        QCOMPARE(cell(model, 1, LiveRanksModel::StateColumn), QStringLiteral("failed"));
    }

    void aRunThatCannotBeReadSaysSo()
    {
        QTemporaryDir dir;
        RunEntry entry;
        entry.info.id = "gone-01";
        entry.info.folder = dir.filePath(QStringLiteral("gone")).toStdString();
        entry.info.state = RunState::Finished;
        LiveRanksModel model;
        QSignalSpy problem(&model, &LiveRanksModel::problem);
        model.setRun(&entry);
        QTRY_VERIFY(!problem.isEmpty());
        QVERIFY(problem.first().first().toString().endsWith(QLatin1Char('.')));
        QCOMPARE(model.rowCount(), 0);
    }
};

QTEST_GUILESS_MAIN(LiveRanksTest)
#include "tst_live_ranks.moc"
