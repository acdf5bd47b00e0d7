#include "ui/plots/heatmap_cells.h"
#include "ui/plots/heatmap_view.h"
#include "ui/plots/plot_group.h"

#include <QMouseEvent>
#include <QSignalSpy>
#include <QTest>

#include <cmath>
#include <random>

using namespace lockstep;

namespace {

SeriesSnapshot::Ptr flat(std::size_t n, std::size_t spikeAt = SIZE_MAX, double spike = 9)
{
    std::vector<double> y(n, 0.5);
    if (spikeAt < n)
        y[spikeAt] = spike;
    return SeriesSnapshot::fromValues(0, 1, y);
}

int redPixels(const QImage& image, const QRect& area, const QColor& red)
{
    int count = 0;
    for (int y = area.top(); y <= area.bottom(); ++y)
        for (int x = area.left(); x <= area.right(); ++x)
            count += image.pixelColor(x, y) == red ? 1 : 0;
    return count;
}

} // namespace

class TestHeatmap : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void cellsEqualALoopOverTheSamples();
    void wideStepsFillTheirColumnsAndGapsStayEmpty();
    void oneOutlierInAMillionStepsIsFramed();
    void outlierAmongAThousandRanksIsFramedAndNamed();
    void beyondLimitCountsEveryStep();
    void homeGoesToTheFirstCellBeyondTheLimit();
    void arrowsMoveTheCell();
    void hoverFindsTheOutlierUnderThePixel();
    void groupSharesRangeAndCursor();
    void emptyMapIsCalm();
};

void TestHeatmap::cellsEqualALoopOverTheSamples()
{
    std::mt19937 rng(2);
    std::vector<double> y(100000);
    for (double& v : y)
        v = rng() % 500 == 0 ? NAN : std::normal_distribution<double>(0, 2)(rng);
    const auto data = SeriesSnapshot::fromValues(0, 1, y);
    for (int round = 0; round < 20; ++round) {
        const double x0 = double(rng() % 90000), width = 2000 + double(rng() % 80000);
        const PlotMapping map(x0, x0 + width, 0, 1, 777, 1);
        const auto cells = heatCells(*data, map);
        std::vector<HeatCell> expected(777);
        for (std::size_t i = 0; i < y.size(); ++i) {
            int column = -1;
            for (int c = std::max(0, int(map.px(double(i))) - 2);
                 c < std::min(777, int(map.px(double(i))) + 3); ++c)
                if (double(i) >= map.stepAt(c) && double(i) < map.stepAt(c + 1))
                    column = c;
            if (column < 0)
                continue;
            HeatCell& cell = expected[std::size_t(column)];
            cell.recorded = true;
            if (std::isfinite(y[i]))
                cell.largest = std::max(cell.largest, std::fabs(y[i]));
            else
                cell.bad = true;
        }
        for (std::size_t c = 0; c < 777; ++c) {
            if (!expected[c].recorded)
                continue;
            QVERIFY(cells[c].recorded);
            QCOMPARE(cells[c].bad, expected[c].bad);
            QCOMPARE(cells[c].largest, expected[c].largest);
        }
    }
}

void TestHeatmap::wideStepsFillTheirColumnsAndGapsStayEmpty()
{
    const auto data = SeriesSnapshot::fromSteps(std::vector<std::int64_t>{0, 1, 2, 8, 9},
                                                std::vector<double>{1, 2, 3, 4, 5});
    const PlotMapping map(-0.5, 9.5, 0, 1, 100, 1); // ten columns a step
    const auto cells = heatCells(*data, map);
    QCOMPARE(cells[5].largest, 1.0);
    QCOMPARE(cells[12].largest, 2.0);
    QCOMPARE(cells[95].largest, 5.0);
    QVERIFY(!cells[55].recorded); // step 5 was never recorded
    int recorded = 0;
    for (const HeatCell& cell : cells)
        recorded += cell.recorded ? 1 : 0;
    QVERIFY(recorded >= 50 && recorded < 75);
}

void TestHeatmap::oneOutlierInAMillionStepsIsFramed()
{
    HeatmapView view;
    view.resize(900, 240);
    view.setTheme(PlotTheme::light());
    view.setLimit(6, "sd");
    view.setRows({{"rank 0", "", flat(1000000)}, {"rank 1", "", flat(1000000, 654321)}});
    const QImage image = view.grab().toImage();
    const QRect area(96, 28, 700, 52);
    QVERIFY(redPixels(image, area, PlotTheme::light().red) > 20);
    view.setRows({{"rank 0", "", flat(1000000)}, {"rank 1", "", flat(1000000)}});
    QCOMPARE(redPixels(view.grab().toImage(), area, PlotTheme::light().red), 0);
}

void TestHeatmap::outlierAmongAThousandRanksIsFramedAndNamed()
{
    HeatmapView view;
    view.resize(900, 400);
    view.setTheme(PlotTheme::light());
    view.setLimit(6, "sd");
    std::vector<HeatmapRow> rows;
    for (int r = 0; r < 1024; ++r)
        rows.push_back({QStringLiteral("rank %1").arg(r), "", flat(500, r == 777 ? 250 : SIZE_MAX, -9)});
    view.setRows(rows);
    const QImage image = view.grab().toImage();
    QVERIFY(redPixels(image, QRect(96, 28, 700, 350), PlotTheme::light().red) > 4);
    QVERIFY(redPixels(image, QRect(0, 28, 90, 350), PlotTheme::light().red) > 20); // its name at the left
    QCOMPARE(view.textSummary(), QStringLiteral("rank 777: 1 steps beyond the limit."));
}

void TestHeatmap::beyondLimitCountsEveryStep()
{
    std::mt19937 rng(4);
    std::vector<double> y(50000);
    std::int64_t expected = 0;
    for (double& v : y) {
        v = rng() % 1000 == 0 ? NAN : std::normal_distribution<double>(0, 3)(rng);
        expected += std::isfinite(v) && std::fabs(v) > 6 ? 1 : 0;
    }
    HeatmapView view;
    view.setRows({{"rank 0", "", SeriesSnapshot::fromValues(0, 1, y)}, {"rank 1", "", nullptr}});
    view.setLimit(6, "sd");
    QCOMPARE(view.beyondLimit(0), expected);
    QCOMPARE(view.beyondLimit(1), 0);
    QCOMPARE(view.beyondLimit(7), 0);
}

void TestHeatmap::homeGoesToTheFirstCellBeyondTheLimit()
{
    HeatmapView view;
    view.resize(900, 240);
    view.setRows(
        {{"rank 0", "", flat(10000, 9000)}, {"rank 1", "", flat(10000, 4321)}, {"rank 2", "", flat(10000)}});
    view.show();
    view.setXRange(0, 100);
    QTest::keyClick(&view, Qt::Key_Home);
    QCOMPARE(view.currentRow(), 1);
    QCOMPARE(view.cursorStep(), std::optional<qint64>(4321));
    QVERIFY(view.xRange().first < 4321 && view.xRange().second > 4321);
}

void TestHeatmap::arrowsMoveTheCell()
{
    HeatmapView view;
    view.setRows({{"rank 0", "", flat(100)}, {"rank 1", "", flat(100)}});
    view.setCurrentRow(0);
    view.setCursorStep(50);
    QSignalSpy activated(&view, &HeatmapView::cellActivated);
    QTest::keyClick(&view, Qt::Key_Right);
    QTest::keyClick(&view, Qt::Key_Right, Qt::ShiftModifier);
    QTest::keyClick(&view, Qt::Key_Left);
    QCOMPARE(view.cursorStep(), std::optional<qint64>(60));
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::keyClick(&view, Qt::Key_Down);
    QCOMPARE(view.currentRow(), 1);
    QTest::keyClick(&view, Qt::Key_Up);
    QCOMPARE(view.currentRow(), 0);
    QTest::keyClick(&view, Qt::Key_Return);
    QCOMPARE(activated.size(), 1);
    QCOMPARE(activated[0][1].toLongLong(), 60);
}

void TestHeatmap::hoverFindsTheOutlierUnderThePixel()
{
    HeatmapView view;
    view.resize(900, 240);
    view.setRows({{"rank 0", "", flat(1000000, 500123)}});
    view.show();
    const auto [low, high] = view.xRange();
    const int width = 900 - 96 - 104;
    const QPointF at(96 + std::floor((500123 - low) / (high - low) * width) + 0.4, 40);
    QMouseEvent move(QEvent::MouseMove, at, view.mapToGlobal(at), Qt::NoButton, {}, {});
    QCoreApplication::sendEvent(&view, &move);
    QCOMPARE(view.cursorStep(), std::optional<qint64>(500123));
}

void TestHeatmap::groupSharesRangeAndCursor()
{
    HeatmapView map;
    CurveView curve;
    PlotGroup group;
    map.setRows({{"rank 0", "", flat(1000)}});
    curve.setSeries({{"a", Qt::black, CurveStyle::Thin, flat(1000)}});
    QCOMPARE(map.dataXRange(), curve.dataXRange());
    group.add(&curve);
    group.add(&map);
    group.setXRange(10, 20);
    QCOMPARE(map.xRange(), (std::pair{10.0, 20.0}));
    group.setCursorStep(15);
    QCOMPARE(map.cursorStep(), std::optional<qint64>(15));
    QTest::keyClick(&map, Qt::Key_Right);
    QCOMPARE(curve.cursorStep(), std::optional<qint64>(16));
    group.fit();
    QCOMPARE(map.xRange(), curve.dataXRange());
}

void TestHeatmap::emptyMapIsCalm()
{
    HeatmapView view;
    view.resize(400, 200);
    QVERIFY(!view.grab().isNull());
    view.setRows({{"rank 0", "", nullptr}, {"rank 1", "", SeriesSnapshot::fromSteps({}, {})}});
    QVERIFY(!view.grab().isNull());
    QVERIFY(!view.hasData());
    for (const int key : {int(Qt::Key_Home), int(Qt::Key_Right), int(Qt::Key_F), int(Qt::Key_Plus)})
        QTest::keyClick(&view, Qt::Key(key));
    view.setCurrentRow(99);
    QCOMPARE(view.currentRow(), 1);
}

QTEST_MAIN(TestHeatmap)
#include "tst_heatmap.moc"
