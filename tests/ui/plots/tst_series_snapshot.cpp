#include "tests/ui/plots/brute_force.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace lockstep;
using namespace lockstep::test;

class TestSeriesSnapshot : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void grownInPiecesEqualsBuiltAtOnce_data();
    void grownInPiecesEqualsBuiltAtOnce();
    void queryEqualsALoopOverTheValues();
    void searchEqualsALoopOverTheSteps_data();
    void searchEqualsALoopOverTheSteps();
    void appendingSharesEveryFullBlock();
    void oldSnapshotIsUntouchedByAppending();
    void unsortedStepsAreSorted();
    void evenStepsNeedNoTable();
    void smallestPositiveEqualsALoop();
    void emptySeriesAnswersEverything();
};

void TestSeriesSnapshot::grownInPiecesEqualsBuiltAtOnce_data()
{
    QTest::addColumn<bool>("uneven");
    QTest::newRow("even") << false;
    QTest::newRow("uneven") << true;
}

void TestSeriesSnapshot::grownInPiecesEqualsBuiltAtOnce()
{
    QFETCH(bool, uneven);
    std::mt19937 rng(3);
    for (int round = 0; round < 100; ++round) {
        const auto n = std::size_t(std::pow(10, std::uniform_real_distribution<double>(0, 5)(rng)));
        const auto y = hardValues(rng, n, false);
        std::vector<std::int64_t> steps = unevenSteps(rng, n);
        if (!uneven)
            for (std::size_t i = 0; i < n; ++i)
                steps[i] = -7 + 3 * std::int64_t(i);
        const auto built = SeriesSnapshot::fromSteps(steps, y);
        SeriesSnapshot::Ptr grown = SeriesSnapshot::fromSteps({}, {});
        for (std::size_t at = 0; at < n;) {
            const std::size_t m = std::min(n - at, std::size_t(1 + rng() % 999));
            grown = grown->appended(std::span(steps).subspan(at, m), std::span(y).subspan(at, m));
            at += m;
        }
        QVERIFY2(grown->sameAs(*built), qPrintable(QStringLiteral("round %1, %2 values").arg(round).arg(n)));
        if (!uneven && n > 1)
            QVERIFY(SeriesSnapshot::fromValues(-7, 3, y)->sameAs(*built));
    }
}

void TestSeriesSnapshot::queryEqualsALoopOverTheValues()
{
    std::mt19937 rng(4);
    const auto y = hardValues(rng, 300000, false);
    const auto series = SeriesSnapshot::fromValues(0, 1, y);
    for (int k = 0; k < 3000; ++k) {
        const auto length = std::size_t(std::pow(10, std::uniform_real_distribution<double>(0, 5.4)(rng)));
        const std::size_t begin = rng() % y.size(), end = std::min(y.size(), begin + length);
        SeriesNode expected;
        for (std::size_t i = begin; i < end; ++i)
            expected.add(y[i]);
        QVERIFY(series->query(begin, end) == expected);
    }
}

void TestSeriesSnapshot::searchEqualsALoopOverTheSteps_data()
{
    QTest::addColumn<bool>("uneven");
    QTest::newRow("even") << false;
    QTest::newRow("uneven") << true;
}

void TestSeriesSnapshot::searchEqualsALoopOverTheSteps()
{
    QFETCH(bool, uneven);
    std::mt19937 rng(5);
    const std::size_t n = 20000;
    std::vector<std::int64_t> steps = unevenSteps(rng, n);
    if (!uneven)
        for (std::size_t i = 0; i < n; ++i)
            steps[i] = -7 + 3 * std::int64_t(i);
    const auto series = SeriesSnapshot::fromSteps(steps, std::vector<double>(n, 1));
    for (int k = 0; k < 3000; ++k) {
        double x = double(steps[rng() % n]);
        if (k % 3 == 1)
            x += std::uniform_real_distribution<double>(-2, 2)(rng);
        if (k % 50 == 0)
            x = k % 100 == 0 ? -1e18 : 1e18;
        const auto expected =
            std::size_t(std::lower_bound(steps.begin(), steps.end(), x,
                                         [](std::int64_t s, double v) { return double(s) < v; }) -
                        steps.begin());
        QCOMPARE(series->lowerBound(x), expected);
        const std::size_t hint = expected == 0 ? 0 : rng() % (expected + 1);
        QCOMPARE(series->lowerBound(x, hint), expected);
        double best = 1e300;
        for (const std::int64_t step : steps)
            best = std::min(best, std::fabs(double(step) - x));
        QCOMPARE(std::fabs(double(series->step(series->nearest(x))) - x), best);
        const std::size_t at = series->indexOf(std::int64_t(std::floor(x)));
        const bool there = std::binary_search(steps.begin(), steps.end(), std::int64_t(std::floor(x)));
        QCOMPARE(at < n, there);
        if (there)
            QCOMPARE(series->step(at), std::int64_t(std::floor(x)));
    }
}

void TestSeriesSnapshot::appendingSharesEveryFullBlock()
{
    const std::size_t blocks = 20;
    const auto series =
        SeriesSnapshot::fromValues(0, 1, std::vector<double>(blocks * SeriesSnapshot::kBlock + 5, 1));
    const std::vector<std::int64_t> step{series->lastStep() + 1};
    const auto more = series->appended(step, std::vector<double>{2});
    QCOMPARE(more->blocksSharedWith(*series), blocks);
    QCOMPARE(more->size(), series->size() + 1);
    QCOMPARE(more->stride(), 1);
}

void TestSeriesSnapshot::oldSnapshotIsUntouchedByAppending()
{
    const auto series = SeriesSnapshot::fromValues(0, 1, std::vector<double>(5000, 1));
    const auto more = series->appended(std::vector<std::int64_t>{5000, 5001}, std::vector<double>{7, NAN});
    QCOMPARE(series->size(), std::size_t(5000));
    QCOMPARE(series->summary().hi, 1.0);
    QCOMPARE(series->summary().bad, 0u);
    QCOMPARE(more->summary().hi, 7.0);
    QCOMPARE(more->summary().bad, 1u);
}

void TestSeriesSnapshot::unsortedStepsAreSorted()
{
    const auto series =
        SeriesSnapshot::fromSteps(std::vector<std::int64_t>{3, 1, 2, 1}, std::vector<double>{30, 10, 20, 11});
    const double expected[] = {10, 11, 20, 30};
    for (std::size_t i = 0; i < 4; ++i)
        QCOMPARE(series->value(i), expected[i]);
    const auto more = series->appended(std::vector<std::int64_t>{0}, std::vector<double>{5});
    QCOMPARE(more->step(0), 0);
    QCOMPARE(more->value(0), 5.0);
    QCOMPARE(more->size(), std::size_t(5));
}

void TestSeriesSnapshot::evenStepsNeedNoTable()
{
    std::vector<std::int64_t> steps(100000);
    for (std::size_t i = 0; i < steps.size(); ++i)
        steps[i] = 10 * std::int64_t(i);
    const auto even = SeriesSnapshot::fromSteps(steps, std::vector<double>(steps.size(), 1));
    QCOMPARE(even->stride(), 10);
    // 8 bytes of value and 24 / 16 + 24 / 256 of nodes.
    QVERIFY2(even->byteSize() < steps.size() * 10, qPrintable(QString::number(even->byteSize())));
    steps[50000] += 1;
    QCOMPARE(SeriesSnapshot::fromSteps(steps, std::vector<double>(steps.size(), 1))->stride(), 0);
}

void TestSeriesSnapshot::smallestPositiveEqualsALoop()
{
    std::mt19937 rng(6);
    std::vector<double> y(50000);
    for (double& v : y)
        v = std::uniform_real_distribution<double>(-1, 1)(rng);
    const auto series = SeriesSnapshot::fromValues(0, 1, y);
    for (int k = 0; k < 500; ++k) {
        const std::size_t begin = rng() % y.size(), end = begin + rng() % (y.size() - begin + 1);
        double expected = INFINITY;
        for (std::size_t i = begin; i < end; ++i)
            if (y[i] > 0)
                expected = std::min(expected, y[i]);
        QCOMPARE(series->smallestPositive(begin, end), expected);
    }
}

void TestSeriesSnapshot::emptySeriesAnswersEverything()
{
    const auto series = SeriesSnapshot::fromSteps({}, {});
    QVERIFY(series->empty());
    QCOMPARE(series->lowerBound(3), std::size_t(0));
    QCOMPARE(series->nearest(3), std::size_t(0));
    QCOMPARE(series->indexOf(3), std::size_t(0));
    QVERIFY(series->summary().empty());
}

QTEST_GUILESS_MAIN(TestSeriesSnapshot)
#include "tst_series_snapshot.moc"
