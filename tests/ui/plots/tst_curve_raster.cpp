#include "tests/ui/plots/brute_force.h"

#include <QTest>

#include <cmath>

using namespace lockstep;
using namespace lockstep::test;

namespace {

std::mt19937 rng(1);

double uniform(double a, double b)
{
    return std::uniform_real_distribution<double>(a, b)(rng);
}

RasterPen randomPen()
{
    RasterPen pen;
    pen.color = qRgba(int(rng() % 256), int(rng() % 256), int(rng() % 256), rng() % 3 == 0 ? 140 : 255);
    const double widths[] = {1, 1, 1.2, 1.8, 3, 6};
    pen.width = widths[rng() % 6];
    if (rng() % 4 == 0) {
        pen.dashOn = 5;
        pen.dashOff = 4;
    }
    return pen;
}

QImage canvas(const PlotMapping& map)
{
    QImage image(map.width(), map.height(), QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::red); // the renderer has to clear it
    return image;
}

QString firstDifference(const QImage& a, const QImage& b)
{
    for (int y = 0; y < a.height(); ++y)
        for (int x = 0; x < a.width(); ++x)
            if (a.pixel(x, y) != b.pixel(x, y))
                return QStringLiteral("pixel %1, %2: %3 and %4")
                    .arg(x)
                    .arg(y)
                    .arg(a.pixel(x, y), 8, 16)
                    .arg(b.pixel(x, y), 8, 16);
    return QStringLiteral("none");
}

} // namespace

class TestCurveRaster : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void everyPixelEqualsTheBruteForcePicture_data();
    void everyPixelEqualsTheBruteForcePicture();
    void pictureDoesNotDependOnThreads();
    void spikesBesideNaNAreAllDrawn_data();
    void spikesBesideNaNAreAllDrawn();
    void loneValueBetweenNaNsIsVisible_data();
    void loneValueBetweenNaNsIsVisible();
    void everyColumnWithNaNHasADiamond();
    void zeroOnALogAxisIsFlagged();
    void dashesNeverHideASpike();
    void lastSampleAndStep2Pow60AreDrawn();
};

void TestCurveRaster::everyPixelEqualsTheBruteForcePicture_data()
{
    QTest::addColumn<int>("scale");
    QTest::addColumn<bool>("uneven");
    QTest::newRow("linear_even") << int(YScale::Linear) << false;
    QTest::newRow("linear_uneven") << int(YScale::Linear) << true;
    QTest::newRow("log_even") << int(YScale::Log) << false;
    QTest::newRow("log_uneven") << int(YScale::Log) << true;
    QTest::newRow("symlog_even") << int(YScale::Symlog) << false;
    QTest::newRow("symlog_uneven") << int(YScale::Symlog) << true;
}

void TestCurveRaster::everyPixelEqualsTheBruteForcePicture()
{
    QFETCH(int, scale);
    QFETCH(bool, uneven);
    rng.seed(unsigned(scale * 2 + int(uneven) + 1));
    const auto yScale = YScale(scale);
    int viewports = 0, withLone = 0, withSparse = 0, withDense = 0;
    for (int round = 0; round < 40; ++round) {
        const auto n = std::size_t(std::pow(10, uniform(0, 4.8)));
        const auto makeSeries = [&] {
            const auto y = hardValues(rng, n, yScale == YScale::Log);
            return uneven ? SeriesSnapshot::fromSteps(unevenSteps(rng, n), y)
                          : SeriesSnapshot::fromValues(std::int64_t(rng() % 100) - 50, 1 + rng() % 3, y);
        };
        RasterScene scene;
        for (unsigned k = 0; k < 1 + rng() % 3; ++k)
            scene.curves.push_back({makeSeries(), randomPen()});
        if (rng() % 3 == 0)
            scene.bands.push_back({makeSeries(), makeSeries(), qRgba(200, 220, 240, 255), randomPen()});
        scene.scale = rng() % 3 == 0 ? 2 : 1;
        const double first = double(scene.curves[0].data->firstStep());
        const double extent = std::max(2.0, double(scene.curves[0].data->lastStep()) - first);
        for (int k = 0; k < 10; ++k) {
            const int w = int(uniform(20, 1600)), h = int(uniform(20, 500));
            double span = std::pow(10, uniform(0.3, std::log10(extent * 3 + 3)));
            double x0 = first + uniform(-span, extent);
            if (k % 3 == 0) { // most of the series
                span = extent * uniform(0.3, 3);
                x0 = first - uniform(0, 0.2) * span;
            }
            if (k % 2 != 0) { // samples exactly on column borders
                span = w * std::ceil(span / w) * (k % 4 == 1 ? 1 : 0.1);
                x0 = std::floor(x0);
            }
            double low = uniform(-25, 10), high = low + std::pow(10, uniform(-1, 1.7));
            if (yScale == YScale::Log) {
                low = std::pow(10, uniform(-4, 1));
                high = low * std::pow(10, uniform(0.1, 5));
            }
            const PlotMapping map(x0, x0 + span, low, high, w, h, {yScale, std::pow(10, uniform(-6, 0))});
            QImage image = canvas(map);
            renderCurves(scene, map, image, 1 + int(rng() % 3));
            const BruteForceResult expected = bruteForce(scene, map);
            ++viewports;
            withLone += expected.lone > 0 ? 1 : 0;
            withSparse += expected.sparse > 0 ? 1 : 0;
            withDense += expected.sparse < int(scene.curves.size()) ? 1 : 0;
            if (image != expected.image) {
                QFAIL(qPrintable(QStringLiteral("round %1, viewport %2 (%3 x %4, %5 samples): %6")
                                     .arg(round)
                                     .arg(k)
                                     .arg(w)
                                     .arg(h)
                                     .arg(n)
                                     .arg(firstDifference(image, expected.image))));
            }
        }
    }
    // The viewports must have exercised all rules.
    QCOMPARE(viewports, 400);
    QVERIFY2(withLone > 40, qPrintable(QString::number(withLone)));
    QVERIFY2(withSparse > 40, qPrintable(QString::number(withSparse)));
    QVERIFY2(withDense > 40, qPrintable(QString::number(withDense)));
}

void TestCurveRaster::pictureDoesNotDependOnThreads()
{
    rng.seed(5);
    RasterScene scene;
    for (int k = 0; k < 5; ++k)
        scene.curves.push_back(
            {SeriesSnapshot::fromValues(0, 1, hardValues(rng, k < 3 ? 50000 : 500, false)), randomPen()});
    for (const double width : {100.0, 400.0, 5000.0, 50000.0}) {
        const PlotMapping map(0, width, -20, 20, 1201, 300);
        QImage one = canvas(map), four = canvas(map);
        renderCurves(scene, map, one, 1);
        renderCurves(scene, map, four, 4);
        QVERIFY2(one == four, qPrintable(firstDifference(one, four)));
    }
}

void TestCurveRaster::spikesBesideNaNAreAllDrawn_data()
{
    QTest::addColumn<int>("nans");
    QTest::newRow("no_NaN") << 0;
    QTest::newRow("1_NaN") << 1;
    QTest::newRow("5_NaN") << 5;
}

void TestCurveRaster::spikesBesideNaNAreAllDrawn()
{
    // Stock QCPGraph draws none of these once a column begins with NaN.
    QFETCH(int, nans);
    const int n = 1000000, w = 1560, h = 800;
    const double perColumn = double(n) / w;
    std::vector<double> y(n, 2);
    std::vector<int> columns;
    for (int c = 20; c < w - 10; c += 15) {
        columns.push_back(c);
        y[std::size_t((c + 0.5) * perColumn)] = 10;
        for (int k = 0; k < nans; ++k)
            y[std::size_t(std::ceil(c * perColumn)) + std::size_t(k) - std::size_t(nans / 2)] = std::nan("");
    }
    columns.resize(102);
    RasterScene scene;
    scene.curves.push_back({SeriesSnapshot::fromValues(0, 1, y), {qRgb(0, 0, 0), 1, 0, 0}});
    const PlotMapping map(0, n, 0, 12, w, h);
    QImage image = canvas(map);
    renderCurves(scene, map, image, 2);
    int seen = 0;
    for (const int c : columns)
        seen += qAlpha(image.pixel(c, int(map.py(8)))) == 255 ? 1 : 0;
    QCOMPARE(seen, 102);
}

void TestCurveRaster::loneValueBetweenNaNsIsVisible_data()
{
    QTest::addColumn<int>("samples");
    QTest::newRow("sparse") << 21;
    QTest::newRow("dense") << 200001;
}

void TestCurveRaster::loneValueBetweenNaNsIsVisible()
{
    QFETCH(int, samples);
    std::vector<double> y(std::size_t(samples), std::nan(""));
    y[std::size_t(samples / 2)] = 5;
    RasterScene scene;
    scene.curves.push_back({SeriesSnapshot::fromValues(0, 1, y), {qRgb(1, 2, 3), 1, 0, 0}});
    const PlotMapping map(0, samples, 0, 10, 300, 200);
    QImage image = canvas(map);
    renderCurves(scene, map, image, 1);
    const int x = int(map.column(samples / 2)), row = int(map.py(5));
    for (int dx = -1; dx <= 1; ++dx)
        for (int dy = -1; dy <= 1; ++dy)
            QCOMPARE(image.pixel(x + dx, row + dy), qRgb(1, 2, 3));
}

void TestCurveRaster::everyColumnWithNaNHasADiamond()
{
    std::vector<double> y(100000, 1);
    for (const std::size_t i : {5000u, 20000u, 77777u})
        y[i] = i == 20000 ? -INFINITY : std::nan("");
    RasterScene scene;
    scene.nonFinite = qRgb(200, 0, 0);
    scene.curves.push_back({SeriesSnapshot::fromValues(0, 1, y), {qRgb(0, 0, 255), 1, 0, 0}});
    const PlotMapping map(0, 100000, 0, 10, 500, 200);
    QImage image = canvas(map);
    renderCurves(scene, map, image, 2);
    int red = 0;
    for (int x = 0; x < 500; ++x)
        red += image.pixel(x, 199 - 3) == qRgb(200, 0, 0) ? 1 : 0;
    QCOMPARE(red, 3 * 7); // three diamonds, seven pixels across the middle
    for (const std::size_t i : {5000u, 20000u, 77777u})
        QCOMPARE(image.pixel(int(map.column(double(i))), 199), qRgb(200, 0, 0));
}

void TestCurveRaster::zeroOnALogAxisIsFlagged()
{
    std::vector<double> y(100000, 1);
    y[50000] = 0;
    RasterScene scene;
    scene.nonPositive = qRgb(9, 9, 9);
    scene.curves.push_back({SeriesSnapshot::fromValues(0, 1, y), {qRgb(0, 0, 255), 1, 0, 0}});
    const PlotMapping map(0, 100000, 0.1, 10, 500, 200, {YScale::Log, 1});
    QImage image = canvas(map);
    renderCurves(scene, map, image, 2);
    QCOMPARE(image.pixel(250, 199), qRgb(9, 9, 9));
    QCOMPARE(image.pixel(250, 150), qRgb(0, 0, 255)); // the line falls out at the bottom
}

void TestCurveRaster::dashesNeverHideASpike()
{
    const int n = 300000, w = 900;
    std::vector<double> y(n, 1);
    for (int c = 0; c < w; ++c)
        y[std::size_t(c * n / w + 100)] = 9;
    for (int c = 0; c < w; ++c)
        if (c % 20 >= 1)
            y[std::size_t(c * n / w + 100)] = 1;
    RasterScene scene;
    scene.curves.push_back({SeriesSnapshot::fromValues(0, 1, y), {qRgb(0, 0, 255), 1, 5, 4}});
    const PlotMapping map(0, n, 0, 10, w, 200);
    QImage image = canvas(map);
    renderCurves(scene, map, image, 2);
    int spikes = 0, gaps = 0;
    for (int c = 0; c < w; ++c) {
        spikes += c % 20 == 0 && qAlpha(image.pixel(c, 100)) == 255 ? 1 : 0;
        gaps += c % 20 != 0 && qAlpha(image.pixel(c, int(map.py(1)))) == 0 ? 1 : 0;
    }
    QCOMPARE(spikes, 45);
    QVERIFY(gaps > 300);
}

void TestCurveRaster::lastSampleAndStep2Pow60AreDrawn()
{
    const std::int64_t far = std::int64_t(1) << 60;
    const std::vector<std::int64_t> steps{0, far - 1, far};
    const std::vector<double> y{1, 1, 9};
    RasterScene scene;
    scene.curves.push_back({SeriesSnapshot::fromSteps(steps, y), {qRgb(0, 0, 255), 1, 0, 0}});
    const PlotMapping map(0, double(far) * 1.01, 0, 10, 500, 200);
    QImage image = canvas(map);
    renderCurves(scene, map, image, 2);
    const int column = int(map.column(double(far)));
    bool reached = false;
    for (int dx = -1; dx <= 1; ++dx)
        reached = reached || qAlpha(image.pixel(column + dx, int(map.py(8)))) > 60;
    QVERIFY(reached);
}

QTEST_GUILESS_MAIN(TestCurveRaster)
#include "tst_curve_raster.moc"
