// What a CurveView draws and says: pictures against brute force, readouts, labels, what is read out.
#include "tests/ui/plots/brute_force.h"
#include "tests/ui/plots/worked_view.h"
#include "ui/plots/series_math.h"

#include <QSignalSpy>
#include <QTest>

#include <cmath>

using namespace lockstep;
using namespace lockstep::test;

class TestCurveView : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void widgetShowsTheBruteForcePicture();
    void everyPixelRowOfTheAreaIsPainted();
    void hoverGivesTheExactStoredValue();
    void readoutSaysNoRecordForAMissingStep();
    void readoutWithOneUlpDifferenceShowsBothValues();
    void smoothingArrivesAndKeepsStoredValues();
    void closingDuringSmoothingIsSafe();
    void extremeDataDoNotBreakTheView_data();
    void extremeDataDoNotBreakTheView();
    void screenReadersGetNameAndSummary();
    void divergenceIsNamedInsideThePlot();
    void labelsNeverOverlap_data();
    void labelsNeverOverlap();
    void devicePixelRatioTwoDrawsAtFullResolution();
};

void TestCurveView::widgetShowsTheBruteForcePicture()
{
    std::mt19937 rng(11);
    CurveView view;
    view.resize(900, 400);
    view.setTheme(PlotTheme::light());
    view.setMargins(50, 10);
    settle(view);
    auto* plot = view.findChild<QCustomPlot*>();
    auto* layer = dynamic_cast<CurveLayer*>(plot->plottable(0));
    QVERIFY(layer);
    for (QCPAxis* axis : {plot->xAxis, plot->yAxis})
        axis->grid()->setVisible(false);
    int compared = 0;
    for (const YScale scale : {YScale::Linear, YScale::Log, YScale::Symlog}) {
        for (int round = 0; round < 8; ++round) {
            const std::size_t n = round % 2 == 0 ? 50000 : 600;
            std::vector<CurveSeries> series;
            series.push_back({"a", Qt::black, CurveStyle::Single,
                              SeriesSnapshot::fromValues(0, 1, hardValues(rng, n, true))});
            series.push_back({"b", Qt::blue, CurveStyle::Rank,
                              SeriesSnapshot::fromSteps(unevenSteps(rng, n), hardValues(rng, n, true))});
            view.setSeries(series);
            view.setYScale(scale, 1e-2);
            view.setYRange(std::pair{0.01, 12.0});
            const double lower = double(rng() % n) - 50;
            view.setXRange(lower, lower + std::pow(10, 1 + round % 4));
            for (QCPAxis* axis : {plot->xAxis, plot->yAxis})
                axis->setVisible(false); // they would be painted on the border of the area
            plot->replot(QCustomPlot::rpImmediateRefresh);
            const PlotMapping map = view.mapping();
            QImage expected(map.width(), map.height(), QImage::Format_RGB32);
            expected.fill(PlotTheme::light().base);
            QPainter(&expected).drawImage(0, 0, bruteForce(layer->scene, map).image);
            const QImage shown =
                plot->toPixmap().toImage().convertToFormat(QImage::Format_RGB32).copy(view.plotArea());
            QCOMPARE(shown.size(), expected.size());
            QVERIFY2(shown == expected,
                     qPrintable(QStringLiteral("scale %1 round %2").arg(int(scale)).arg(round)));
            ++compared;
        }
    }
    QCOMPARE(compared, 24);
}

void TestCurveView::everyPixelRowOfTheAreaIsPainted()
{
    // QCPLayer clips one row too high and antialiasing shifts images; both would lose the last row or column.
    CurveView view;
    view.resize(400, 200);
    view.setTheme(PlotTheme::light());
    std::vector<double> y(200000);
    for (std::size_t i = 0; i < y.size(); ++i)
        y[i] = i % 2 == 0 ? -100 : 100;
    view.setSeries({{"a", QColor(0, 0, 255), CurveStyle::Thin, SeriesSnapshot::fromValues(0, 1, y)}});
    view.setYRange(std::pair{-1.0, 1.0});
    view.setXRange(1000, 100000);
    settle(view);
    auto* plot = view.findChild<QCustomPlot*>();
    for (QCPAxis* axis : {plot->xAxis, plot->yAxis})
        axis->setVisible(false);
    plot->replot(QCustomPlot::rpImmediateRefresh);
    const QImage shown = plot->toPixmap().toImage().copy(view.plotArea());
    for (int x : {0, shown.width() / 2, shown.width() - 1})
        for (int row : {0, shown.height() / 2, shown.height() - 1})
            QCOMPARE(shown.pixelColor(x, row), QColor(0, 0, 255));
    const QImage around = plot->toPixmap().toImage();
    QCOMPARE(around.pixelColor(view.plotArea().left() + 5, view.plotArea().bottom() + 2),
             PlotTheme::light().base);
}

void TestCurveView::hoverGivesTheExactStoredValue()
{
    std::vector<double> y(100000);
    std::mt19937 rng(3);
    for (double& v : y)
        v = std::uniform_real_distribution<double>(2, 3)(rng);
    CurveView view;
    view.resize(700, 300);
    view.setSeries({{"single", Qt::black, CurveStyle::Single, SeriesSnapshot::fromValues(0, 1, y)}});
    settle(view);
    QSignalSpy cursor(&view, &CurveView::cursorStepChanged);
    QSignalSpy text(&view, &CurveView::hoverTextChanged);
    for (int x = view.plotArea().left() + 10; x < view.plotArea().right(); x += 37) {
        hover(view, {x, view.plotArea().center().y()});
        QVERIFY(view.cursorStep());
        const auto step = *view.cursorStep();
        // The nearest step to the pointer, and the value that reads back to the same bits.
        const auto [low, high] = view.xRange();
        const double wanted =
            low + double(x - view.plotArea().left()) / view.plotArea().width() * (high - low);
        QVERIFY(std::fabs(double(step) - wanted) <= 0.5 + (high - low) / view.plotArea().width());
        const auto rows = view.readout(step);
        QCOMPARE(rows.size(), std::size_t(1));
        QVERIFY(rows[0].present);
        QCOMPARE(rows[0].text.toDouble(), y[std::size_t(step)]);
        QVERIFY(text.last().first().toString().contains(rows[0].text));
    }
    QVERIFY(cursor.size() > 10);
    QEvent leave(QEvent::Leave);
    QCoreApplication::sendEvent(surface(view), &leave);
    QVERIFY(!view.cursorStep());
    QCOMPARE(text.last().first().toString(), QString());
}

void TestCurveView::readoutSaysNoRecordForAMissingStep()
{
    CurveView view;
    view.setSeries({{"a", Qt::black, CurveStyle::Thin, line(10)},
                    {"b", Qt::blue, CurveStyle::Thin,
                     SeriesSnapshot::fromSteps(std::vector<std::int64_t>{0, 5}, std::vector<double>{1, NAN})},
                    {"c", Qt::red, CurveStyle::Thin, nullptr}});
    const auto rows = view.readout(5);
    QCOMPARE(rows[0].text, QStringLiteral("5.1"));
    QCOMPARE(rows[1].text, QStringLiteral("NaN"));
    QVERIFY(!rows[2].present);
    QVERIFY(!view.readout(4)[1].present);
    QCOMPARE(view.readoutText(4), QStringLiteral("step 4: a 4.1"));
    QCOMPARE(view.readoutText(40), QStringLiteral("step 40: no record"));
}

void TestCurveView::readoutWithOneUlpDifferenceShowsBothValues()
{
    const double value = 3.0850567817687988, next = std::nextafter(value, 4);
    CurveView view;
    const auto one = [](double v) { return SeriesSnapshot::fromValues(0, 1, std::vector<double>{v}); };
    view.setSeries(
        {{"a", Qt::black, CurveStyle::Thin, one(value)},
         {"b", Qt::blue, CurveStyle::Thin, one(next)},
         {"b - a", Qt::blue, CurveStyle::Thin, deltaOf(*one(value), *one(next)), "", false, true}});
    const auto rows = view.readout(0);
    QVERIFY(rows[0].text != rows[1].text);
    QCOMPARE(rows[1].text.toDouble(), next);
    QCOMPARE(rows[2].text.at(0), QLatin1Char('+'));
    QCOMPARE(rows[2].text.toDouble(), next - value);
}

void TestCurveView::smoothingArrivesAndKeepsStoredValues()
{
    CurveView view;
    view.resize(600, 200);
    std::vector<double> y(1000);
    for (std::size_t i = 0; i < y.size(); ++i)
        y[i] = i % 2 == 0 ? 1 : 3;
    view.setSeries({{"a", Qt::black, CurveStyle::Thin, SeriesSnapshot::fromValues(0, 1, y)}});
    settle(view);
    auto* layer = dynamic_cast<CurveLayer*>(view.findChild<QCustomPlot*>()->plottable(0));
    QCOMPARE(layer->scene.curves.size(), std::size_t(1));
    view.setSmoothing(0.9);
    QTRY_COMPARE(layer->scene.curves.size(), std::size_t(2)); // raw behind, smooth above
    QVERIFY(std::fabs(layer->scene.curves[1].data->value(999) - 2) < 0.2);
    QCOMPARE(view.readout(999)[0].value, 3.0);
    view.setSmoothing(0);
    QCOMPARE(layer->scene.curves.size(), std::size_t(1));
}

void TestCurveView::closingDuringSmoothingIsSafe()
{
    for (int i = 0; i < 20; ++i) {
        auto view = std::make_unique<CurveView>();
        view->setSeries({{"a", Qt::black, CurveStyle::Thin, line(20000)}});
        view->setSmoothing(0.5);
    }
    QThreadPool::globalInstance()->waitForDone();
    QCoreApplication::processEvents();
}

void TestCurveView::extremeDataDoNotBreakTheView_data()
{
    QTest::addColumn<QList<double>>("values");
    QTest::newRow("nothing") << QList<double>{};
    QTest::newRow("one") << QList<double>{1};
    QTest::newRow("one_NaN") << QList<double>{NAN};
    QTest::newRow("all_equal") << QList<double>{2, 2, 2};
    QTest::newRow("all_zero") << QList<double>{0, 0, 0};
    QTest::newRow("huge") << QList<double>{-1.7e308, 1.7e308, 0};
    QTest::newRow("tiny") << QList<double>{5e-324, 1e-323};
    QTest::newRow("infinite") << QList<double>{INFINITY, -INFINITY, 1};
    QTest::newRow("negative") << QList<double>{-1, -2, -3};
}

void TestCurveView::extremeDataDoNotBreakTheView()
{
    QFETCH(QList<double>, values);
    for (const YScale scale : {YScale::Linear, YScale::Log, YScale::Symlog}) {
        CurveView view;
        view.resize(300, 150);
        view.setYScale(scale);
        view.setSeries(
            {{"a", Qt::black, CurveStyle::Mean,
              SeriesSnapshot::fromValues(0, 1, std::vector<double>(values.begin(), values.end()))}});
        settle(view);
        QVERIFY(view.xRange().first < view.xRange().second);
        QVERIFY2(std::isfinite(view.yRange().first) && view.yRange().first < view.yRange().second,
                 qPrintable(QStringLiteral("%1 to %2").arg(view.yRange().first).arg(view.yRange().second)));
        hover(view, view.plotArea().center());
        QVERIFY(!view.grab().isNull());
        QVERIFY(!view.textSummary().isEmpty());
    }
    CurveView view;
    view.setXRange(NAN, 3); // refused
    view.setXRange(5, 5);
    QCOMPARE(view.xRange(), (std::pair{0.0, 1.0}));
}

void TestCurveView::screenReadersGetNameAndSummary()
{
    CurveView view;
    view.setTitle("gradient norm");
    view.setSeries({{"single", Qt::black, CurveStyle::Single,
                     SeriesSnapshot::fromValues(1, 1, std::vector<double>{4.5, NAN, 2.25})}});
    QCOMPARE(view.accessibleName(), QStringLiteral("gradient norm"));
    QCOMPARE(
        view.accessibleDescription(),
        QStringLiteral("single: steps 1 to 3, last value 2.25, lowest 2.25, highest 4.5, 1 not finite."));
}

void TestCurveView::divergenceIsNamedInsideThePlot()
{
    // At every position of the marker the red chip lies inside the widget, whatever the title's length.
    for (const int step : {0, 1, 50, 98, 99}) {
        CurveView view;
        view.resize(420, 180);
        view.setTheme(PlotTheme::light());
        view.setTitle("gradient norm after reduction, mean over ranks, log");
        view.setSeries({{"a", Qt::black, CurveStyle::Thin,
                         SeriesSnapshot::fromValues(0, 1, std::vector<double>(100, 1))}});
        view.setMarkers({{step, "first divergent step 41", CurveMarker::Kind::Divergence}});
        settle(view);
        const QImage image = view.grab().toImage();
        int tint = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                tint += image.pixelColor(x, y) == PlotTheme::light().redTint ? 1 : 0;
        QVERIFY2(tint > 800, qPrintable(QStringLiteral("step %1: %2 pixels").arg(step).arg(tint)));
    }
}

void TestCurveView::labelsNeverOverlap_data()
{
    QTest::addColumn<QList<double>>("wanted");
    QTest::newRow("apart") << QList<double>{10, 50, 90};
    QTest::newRow("equal") << QList<double>{50, 50, 50, 50};
    QTest::newRow("at_the_bottom") << QList<double>{95, 98, 99};
    QTest::newRow("outside") << QList<double>{-50, 5, 300};
}

void TestCurveView::labelsNeverOverlap()
{
    QFETCH(QList<double>, wanted);
    const auto y = spreadLabels({wanted.begin(), wanted.end()}, 12, 0, 100);
    for (std::size_t i = 0; i < y.size(); ++i) {
        QVERIFY(y[i] >= 6 && y[i] <= 94);
        if (i > 0)
            QVERIFY(y[i] - y[i - 1] >= 12 - 1e-9);
    }
    // More than fit stay inside and in order.
    const auto many = spreadLabels(std::vector<double>(20, 50.0), 12, 0, 100);
    for (std::size_t i = 1; i < many.size(); ++i)
        QVERIFY(many[i] > many[i - 1] && many[i] <= 94 + 1e-9);
}

void TestCurveView::devicePixelRatioTwoDrawsAtFullResolution()
{
    CurveView view;
    view.resize(400, 200);
    view.setTheme(PlotTheme::light());
    std::vector<double> y(1000, 0);
    y[500] = 1;
    view.setSeries({{"a", Qt::black, CurveStyle::Thin, SeriesSnapshot::fromValues(0, 1, y)}});
    settle(view);
    auto* layer = dynamic_cast<CurveLayer*>(view.findChild<QCustomPlot*>()->plottable(0));
    const PlotMapping map = layer->mapping(2);
    QCOMPARE(map.width(), 2 * view.plotArea().width());
    QCOMPARE(map.height(), 2 * view.plotArea().height());
    QCOMPARE(scaledScene(layer->scene, 2).curves[0].pen.width, 2.4);
    // A pixmap of ratio 2: the curve's spike is 2.4 device pixels wide, not a blurred 1.2.
    QPixmap pixmap(view.size() * 2);
    pixmap.setDevicePixelRatio(2);
    view.render(&pixmap);
    QVERIFY(!pixmap.isNull());
}

QTEST_MAIN(TestCurveView)
#include "tst_curve_view.moc"
