#include "ui/plots/plot_mapping.h"
#include "ui/plots/value_ticker.h"

#include <QTest>

#include <cmath>

using namespace lockstep;

class TestPlotMapping : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void stepsGoToPixels_data();
    void stepsGoToPixels();
    void valuesGoToPixels_data();
    void valuesGoToPixels();
    void transformsAreMonotoneAndInvertible_data();
    void transformsAreMonotoneAndInvertible();
    void farOffValuesAreClamped();
    void valueTicksHaveReadableLabels_data();
    void valueTicksHaveReadableLabels();
    void stepTicksAreWholeSteps_data();
    void stepTicksAreWholeSteps();
    void tickLabelsAreDistinct();
};

void TestPlotMapping::stepsGoToPixels_data()
{
    QTest::addColumn<double>("x0");
    QTest::addColumn<double>("x1");
    QTest::addColumn<int>("width");
    QTest::addColumn<double>("step");
    QTest::addColumn<double>("px");
    QTest::addColumn<long>("column");
    QTest::newRow("left_edge") << 0.0 << 100.0 << 500 << 0.0 << 0.0 << 0L;
    QTest::newRow("right_edge_is_outside") << 0.0 << 100.0 << 500 << 100.0 << 500.0 << 500L;
    QTest::newRow("on_a_border_belongs_to_the_right") << 0.0 << 100.0 << 50 << 2.0 << 1.0 << 1L;
    QTest::newRow("just_before_the_border") << 0.0 << 100.0 << 50 << 1.999 << 0.9995 << 0L;
    QTest::newRow("left_of_the_view") << 10.0 << 20.0 << 100 << 9.0 << -10.0 << -10L;
    QTest::newRow("fraction_left_is_column_-1") << 10.0 << 20.0 << 100 << 9.99 << -0.1 << -1L;
    QTest::newRow("far_off_is_clamped") << 0.0 << 1.0 << 100 << 1e18 << 1e20 << 1000000000L;
}

void TestPlotMapping::stepsGoToPixels()
{
    QFETCH(double, x0);
    QFETCH(double, x1);
    QFETCH(int, width);
    QFETCH(double, step);
    QFETCH(double, px);
    QFETCH(long, column);
    const PlotMapping map(x0, x1, 0, 1, width, 10);
    QVERIFY2(std::fabs(map.px(step) - px) <= 1e-9 * (1 + std::fabs(px)),
             qPrintable(QString::number(map.px(step))));
    QCOMPARE(map.column(step), column);
    QVERIFY(std::fabs(map.stepAt(map.px(step)) - step) <= 1e-9 * (1 + std::fabs(step)));
}

void TestPlotMapping::valuesGoToPixels_data()
{
    QTest::addColumn<int>("scale");
    QTest::addColumn<double>("low");
    QTest::addColumn<double>("high");
    QTest::addColumn<double>("value");
    QTest::addColumn<double>("py");
    const int linear = int(YScale::Linear), log = int(YScale::Log), symlog = int(YScale::Symlog);
    QTest::newRow("top") << linear << 0.0 << 10.0 << 10.0 << 0.0;
    QTest::newRow("bottom") << linear << 0.0 << 10.0 << 0.0 << 100.0;
    QTest::newRow("above") << linear << 0.0 << 10.0 << 20.0 << -100.0;
    QTest::newRow("log_decade") << log << 0.01 << 100.0 << 1.0 << 50.0;
    QTest::newRow("log_zero_is_far_below") << log << 0.01 << 100.0 << 0.0 << 1e6;
    QTest::newRow("log_negative_is_far_below") << log << 0.01 << 100.0 << -3.0 << 1e6;
    // Threshold 0.01: 1 is at coordinate 3, 0.01 at 1, 0 at 0.
    QTest::newRow("symlog_zero") << symlog << -1.0 << 1.0 << 0.0 << 50.0;
    QTest::newRow("symlog_threshold") << symlog << -1.0 << 1.0 << 0.01 << 100.0 / 3;
    QTest::newRow("symlog_linear_part") << symlog << -1.0 << 1.0 << 0.005 << 50 - 100.0 / 12;
    QTest::newRow("symlog_negative") << symlog << -1.0 << 1.0 << -0.1 << 50 + 100.0 / 3;
}

void TestPlotMapping::valuesGoToPixels()
{
    QFETCH(int, scale);
    QFETCH(double, low);
    QFETCH(double, high);
    QFETCH(double, value);
    QFETCH(double, py);
    const PlotMapping map(0, 1, low, high, 10, 100, {YScale(scale), 0.01});
    QVERIFY2(std::fabs(map.py(value) - py) < 1e-9 * (1 + std::fabs(py)),
             qPrintable(QString::number(map.py(value), 'g', 17)));
}

void TestPlotMapping::transformsAreMonotoneAndInvertible_data()
{
    QTest::addColumn<int>("scale");
    QTest::newRow("linear") << int(YScale::Linear);
    QTest::newRow("log") << int(YScale::Log);
    QTest::newRow("symlog") << int(YScale::Symlog);
}

void TestPlotMapping::transformsAreMonotoneAndInvertible()
{
    QFETCH(int, scale);
    const YTransform transform{YScale(scale), 1e-3};
    double previous = -INFINITY;
    for (double coordinate = -8; coordinate <= 8; coordinate += 0.01) {
        const double value = transform.backward(coordinate);
        QVERIFY(value > previous);
        QVERIFY(std::fabs(transform.forward(value) - coordinate) < 1e-9);
        previous = value;
    }
}

void TestPlotMapping::farOffValuesAreClamped()
{
    const PlotMapping map(0, 1, 0, 1e-300, 10, 100);
    QCOMPARE(map.py(1e308), -1e6);
    QCOMPARE(map.py(-1e308), 1e6);
    QCOMPARE(PlotMapping::row(map.py(1e308)), -1000000);
}

void TestPlotMapping::valueTicksHaveReadableLabels_data()
{
    QTest::addColumn<int>("scale");
    QTest::addColumn<double>("low"); // values
    QTest::addColumn<double>("high");
    QTest::addColumn<QString>("labels");
    const int linear = int(YScale::Linear), log = int(YScale::Log), symlog = int(YScale::Symlog);
    QTest::newRow("unit") << linear << 0.0 << 1.0 << "0 0.2 0.4 0.6 0.8 1.0";
    QTest::newRow("loss") << linear << 2.43 << 4.31 << "2.5 3.0 3.5 4.0";
    QTest::newRow("around_zero") << linear << -1.1 << 1.1 << "-1.0 -0.5 0 0.5 1.0";
    QTest::newRow("small") << linear << 0.0 << 1e-7 << "0 2e-08 4e-08 6e-08 8e-08 1e-07";
    QTest::newRow("large") << linear << 0.0 << 4e6 << "0 1e+06 2e+06 3e+06 4e+06";
    QTest::newRow("two_decades") << log << 0.09 << 2.6 << "0.1 0.2 0.5 1 2";
    QTest::newRow("many_decades") << log << 1e-9 << 2.0 << QString::fromUtf8("10⁻⁸ 10⁻⁶ 10⁻⁴ 10⁻² 10⁰");
    QTest::newRow("less_than_half_a_decade") << log << 3.0 << 4.1 << "3.0 3.5 4.0";
    QTest::newRow("symlog") << symlog << -1e-2 << 1e-2
                            << QString::fromUtf8("-10⁻² -10⁻⁴ -10⁻⁶ 0 10⁻⁶ 10⁻⁴ 10⁻²");
    QTest::newRow("inside_the_linear_part") << symlog << -1e-6 << 1e-6 << "-1e-06 -5e-07 0 5e-07 1e-06";
}

void TestPlotMapping::valueTicksHaveReadableLabels()
{
    QFETCH(int, scale);
    QFETCH(double, low);
    QFETCH(double, high);
    QFETCH(QString, labels);
    const YTransform transform{YScale(scale), 1e-6};
    const int target = scale == int(YScale::Symlog) && high > 1e-6 ? 9 : 5;
    const ValueTicks ticks = valueTicks(transform.forward(low), transform.forward(high), target, transform);
    QCOMPARE(ticks.major.size(), ticks.labels.size());
    std::vector<std::pair<double, QString>> sorted;
    for (int i = 0; i < ticks.major.size(); ++i)
        sorted.emplace_back(ticks.major[i], ticks.labels[i]);
    std::sort(sorted.begin(), sorted.end());
    QStringList texts;
    for (const auto& [at, text] : sorted)
        texts << text;
    QCOMPARE(texts.join(QLatin1Char(' ')), labels);
}

void TestPlotMapping::stepTicksAreWholeSteps_data()
{
    QTest::addColumn<double>("low");
    QTest::addColumn<double>("high");
    QTest::addColumn<QString>("labels");
    QTest::newRow("short_run") << 0.0 << 240.0 << "0 50 100 150 200";
    QTest::newRow("zoomed_below_one_step") << 40.7 << 43.1 << "41 42 43";
    QTest::newRow("thousands") << 0.0 << 40000.0 << "0 10k 20k 30k 40k";
    QTest::newRow("millions") << 0.0 << 1e7 << "0 2M 4M 6M 8M 10M";
    QTest::newRow("deep_zoom_in_a_long_run")
        << 1234560.0 << 1234565.0 << "1234560 1234561 1234562 1234563 1234564 1234565";
}

void TestPlotMapping::stepTicksAreWholeSteps()
{
    QFETCH(double, low);
    QFETCH(double, high);
    QFETCH(QString, labels);
    QCOMPARE(QStringList(stepTicks(low, high, 5).labels).join(QLatin1Char(' ')), labels);
}

void TestPlotMapping::tickLabelsAreDistinct()
{
    for (int exponent = -12; exponent < 12; ++exponent)
        for (const double low : {0.0, 1.0, 123.456, -7.0})
            for (const double extent : {1.0, 2.7, 0.003})
                for (const int target : {2, 4, 8}) {
                    const double size = std::pow(10, exponent);
                    const ValueTicks ticks = valueTicks(low * size, (low + extent) * size, target, {});
                    QVERIFY(ticks.labels.size() >= 1);
                    QVERIFY(ticks.labels.size() <= target + 2);
                    QStringList labels = ticks.labels;
                    QVERIFY2(labels.removeDuplicates() == 0, qPrintable(ticks.labels.join(QLatin1Char(' '))));
                }
}

QTEST_GUILESS_MAIN(TestPlotMapping)
#include "tst_plot_mapping.moc"
