// The Ranks page offscreen on a real project: which rank it names, what it shows of a cell, and that it follows a run.
#include "ui/models/comparison_model.h"
#include "ui/models/gates_model.h"
#include "ui/models/project_model.h"
#include "ui/models/runs_model.h"
#include "ui/pages/ranks_page.h"
#include "ui/plots/curve_view.h"
#include "ui/plots/heatmap_view.h"
#include "ui/support/page_world.h"
#include "ui/support/rank_run.h"
#include "ui/widgets/theme.h"

#include <QApplication>
#include <QComboBox>
#include <QSignalSpy>
#include <QTest>
#include <QUndoStack>

#include <cmath>

using namespace lockstep;
using namespace lockstep::test;

namespace {

using World = PageWorld;

double noise(int rank, std::int64_t step)
{
    return 0.1 * std::sin(double(rank * 37 + step * step % 101));
}

// Rank 2 leaves the others in step 30, its parameters in step 28.
void recordOddRank(RankRun& run, std::int64_t first, std::int64_t last)
{
    for (std::int64_t step = first; step <= last; ++step)
        for (int rank = 0; rank < 4; ++rank)
            run.record(
                rank, step,
                {{Quantity::Loss, 0, bitsOf(2 + noise(rank, step) - (rank == 2 && step >= 30 ? 1.5 : 0))},
                 {Quantity::ParamFingerprint, 0,
                  std::uint64_t(step) * 31 + (rank == 2 && step >= 28 ? 1 : 0)},
                 {Quantity::SampleIds, 0, std::uint64_t(step * 4 + rank)}});
    run.commit();
}

} // namespace

class RanksPageTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { theme::apply(*qApp, ThemeKind::Light); }

    void theOddRankAndTheBrokenEqualityAreNamed()
    {
        World w;
        RankRun run(w.project, 4);
        recordOddRank(run, 1, 60);
        run.finish();
        QVERIFY(w.open());
        RanksPage page(w.context);
        showPage(page);
        auto* heatmap = page.findChild<HeatmapView*>(QStringLiteral("heatmap"));
        QTRY_COMPARE(heatmap->beyondLimit(2), std::int64_t(31));
        for (const int row : {0, 1, 3})
            QCOMPARE(heatmap->beyondLimit(row), std::int64_t(0));
        QTRY_VERIFY(shows(page, QStringLiteral("Parameters differ on rank 2 from step 28")));
        QVERIFY(shows(page, QStringLiteral("rank 2 is beyond limit 6 in 31 step(s), first in step 30")));
        // The odd rank is drawn against the others without being asked for.
        auto* plot = page.findChild<CurveView*>(QStringLiteral("rankPlot"));
        QTRY_COMPARE(plot->series().size(), std::size_t(2));
        QCOMPARE(plot->series().back().label, QStringLiteral("rank 2"));
        QCOMPARE(plot->series().front().label, QStringLiteral("median of 3"));
        QCOMPARE(plot->readout(40).back().value, 2 + noise(2, 40) - 1.5);
    }

    void cleanRanksRaiseNothing()
    {
        World w;
        RankRun run(w.project, 4);
        for (std::int64_t step = 1; step <= 60; ++step)
            for (int rank = 0; rank < 4; ++rank)
                run.record(rank, step, {{Quantity::Loss, 0, bitsOf(2 + noise(rank, step))}});
        run.finish();
        QVERIFY(w.open());
        RanksPage page(w.context);
        showPage(page);
        QTRY_VERIFY(shows(page, QStringLiteral("no cell of 4 rank(s) beyond limit 6")));
        for (const Banner* banner : page.findChildren<Banner*>())
            QVERIFY(!banner->isVisible());
    }

    void fewRanksLeaveThePlotBelowItsTitle()
    {
        World w;
        w.project.finished("ddp", 2);
        QVERIFY(w.open());
        RanksPage page(w.context);
        showPage(page);
        auto* heatmap = page.findChild<HeatmapView*>(QStringLiteral("heatmap"));
        auto* below = page.findChild<CurveView*>(QStringLiteral("rankPlot"));
        QTRY_VERIFY(heatmap->hasData());
        QTRY_VERIFY(heatmap->height() <= heatmap->fullHeight());
        QTRY_VERIFY(heatmap->geometry().bottom() < below->geometry().top());
    }

    void dGoesToTheBreakAndPinsTheCell()
    {
        World w;
        RankRun run(w.project, 4);
        recordOddRank(run, 1, 60);
        run.finish();
        QVERIFY(w.open());
        RanksPage page(w.context);
        showPage(page);
        QTRY_VERIFY(shows(page, QStringLiteral("Parameters differ")));
        QTRY_VERIFY(!page.busy());
        page.jumpToDivergence();
        QVERIFY(shows(page, QStringLiteral("Cell: rank 2, step 28")));
        QSignalSpy asked(&page, &Page::openRequested);
        QTest::mouseClick(page.findChild<QPushButton*>(QStringLiteral("stepInCurves")), Qt::LeftButton);
        QCOMPARE(asked.size(), 1);
        QCOMPARE(asked.first().at(1).toString(), QStringLiteral("step:28"));
        QVERIFY(page.escape()); // drops the pin
        QVERIFY(page.escape()); // drops the cursor
        QVERIFY(!page.escape());
        QVERIFY(shows(page, QStringLiteral("Point at a cell")));
    }

    void homeAndEnterShowTheExactValue()
    {
        World w;
        RankRun run(w.project, 4);
        recordOddRank(run, 1, 60);
        run.finish();
        QVERIFY(w.open());
        RanksPage page(w.context);
        showPage(page);
        auto* heatmap = page.findChild<HeatmapView*>(QStringLiteral("heatmap"));
        QTRY_COMPARE(heatmap->beyondLimit(2), std::int64_t(31));
        QTest::keyClick(heatmap, Qt::Key_Home);
        QTest::keyClick(heatmap, Qt::Key_Return);
        QVERIFY(shows(page, QStringLiteral("Cell: rank 2, step 30")));
        QVERIFY(shows(page, QStringLiteral("Loss ") + QString::number(2 + noise(2, 30) - 1.5, 'g',
                                                                      QLocale::FloatingPointShortest)));
        QVERIFY(shows(page, QStringLiteral("robust sd below the median of the ranks, limit 6.")));
    }

    void anotherQuantityIsReadWhenChosen()
    {
        World w;
        RankRun run(w.project, 2);
        for (std::int64_t step = 1; step <= 20; ++step)
            for (int rank = 0; rank < 2; ++rank)
                run.record(rank, step,
                           {{Quantity::Loss, 0, bitsOf(1)}, {Quantity::TimeStep, 0, bitsOf(0.25)}});
        run.finish();
        QVERIFY(w.open());
        RanksPage page(w.context);
        showPage(page);
        auto* plot = page.findChild<CurveView*>(QStringLiteral("rankPlot"));
        QTRY_COMPARE(plot->series().size(), std::size_t(2));
        auto* quantity = page.findChild<QComboBox*>(QStringLiteral("quantity"));
        quantity->setCurrentIndex(quantity->findText(QStringLiteral("step time")));
        QTRY_VERIFY(!plot->series().empty() && plot->readout(7).back().value == 0.25);
        // A quantity nobody recorded: an empty plot, no old values.
        quantity->setCurrentIndex(quantity->findText(QStringLiteral("update norm")));
        QTRY_VERIFY(plot->series().empty());
        const QJsonObject state = page.saveState();
        QCOMPARE(state.value(QStringLiteral("quantity")).toString(), QStringLiteral("update_norm"));
    }

    void theSessionBringsBackRunAndQuantity()
    {
        World w;
        RankRun first(w.project, 2);
        first.finish();
        RankRun second(w.project, 4);
        second.finish();
        QVERIFY(w.open());
        RanksPage page(w.context);
        page.restoreState(
            {{QStringLiteral("run"), first.id()}, {QStringLiteral("quantity"), QStringLiteral("time_step")}});
        showPage(page);
        QCOMPARE(page.findChild<QComboBox*>(QStringLiteral("run"))->currentText(), first.id());
        QCOMPARE(page.findChild<QComboBox*>(QStringLiteral("quantity"))->currentText(),
                 QStringLiteral("step time"));
        page.restoreState({{QStringLiteral("run"), 5}, {QStringLiteral("quantity"), QStringLiteral("?")}});
    }

    void aRunningRunIsFollowed()
    {
        World w;
        RankRun run(w.project, 4);
        recordOddRank(run, 1, 20);
        QVERIFY(w.open());
        RanksPage page(w.context);
        showPage(page);
        auto* heatmap = page.findChild<HeatmapView*>(QStringLiteral("heatmap"));
        QTRY_COMPARE(heatmap->dataXRange().first, 1.0);
        QCOMPARE(heatmap->beyondLimit(2), std::int64_t(0));
        recordOddRank(run, 21, 45);
        QTRY_COMPARE(heatmap->beyondLimit(2), std::int64_t(16));
        QVERIFY(heatmap->xRange().second >= 45);
        recordOddRank(run, 46, 60);
        run.finish();
        QTRY_COMPARE(heatmap->beyondLimit(2), std::int64_t(31));
    }

    void withoutARunOfSeveralRanksItSaysWhatToDo()
    {
        World w;
        w.project.finished("single", 1);
        QVERIFY(w.open());
        RanksPage page(w.context);
        showPage(page);
        QVERIFY(!page.findChild<QComboBox*>(QStringLiteral("run"))->isVisible());
        page.jumpToDivergence();
        QVERIFY(!page.busy());
    }
};

QTEST_MAIN(RanksPageTest)
#include "tst_ranks_page.moc"
