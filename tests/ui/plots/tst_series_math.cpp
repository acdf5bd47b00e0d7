#include "ui/plots/series_math.h"

#include <QTest>

#include <cmath>

using namespace lockstep;

namespace {

using Steps = std::vector<std::int64_t>;
using Values = std::vector<double>;

SeriesSnapshot::Ptr series(const Steps& steps, const Values& values)
{
    return SeriesSnapshot::fromSteps(steps, values);
}

// "step:value" pairs, for comparing as text.
QString text(const SeriesSnapshot& s)
{
    QStringList parts;
    for (std::size_t i = 0; i < s.size(); ++i)
        parts << QStringLiteral("%1:%2").arg(s.step(i)).arg(s.value(i));
    return parts.join(QLatin1Char(' '));
}

} // namespace

class TestSeriesMath : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void deltaPairsBySteps();
    void deltaIsExactInDouble();
    void deltaOfEqualNonFiniteValuesIsZero();
    void spreadIsPerStepOverThePresentRanks();
    void spreadKeepsNaNVisibleInTheMean();
    void smoothingUsesEveryValueAndIsUnbiased();
    void smoothingPassesNaNThrough();
    void symlogThresholdFollowsTheSizes();
};

void TestSeriesMath::deltaPairsBySteps()
{
    const auto a = series({0, 1, 2, 5, 9}, {1, 2, 3, 4, 5});
    const auto b = series({1, 2, 3, 5, 10}, {12, 13, 14, 15, 16});
    QCOMPARE(text(*deltaOf(*a, *b)), QStringLiteral("1:10 2:10 5:11"));
    QVERIFY(deltaOf(*a, *series({}, {}))->empty());
}

void TestSeriesMath::deltaIsExactInDouble()
{
    const double value = 3.0850567817687988, next = std::nextafter(value, 4);
    const auto delta = deltaOf(*series({0}, {value}), *series({0}, {next}));
    QCOMPARE(delta->value(0), next - value);
    QVERIFY(delta->value(0) > 0); // a float plot would show 0
}

void TestSeriesMath::deltaOfEqualNonFiniteValuesIsZero()
{
    const auto delta = deltaOf(*series({0, 1, 2, 3}, {NAN, INFINITY, 1, NAN}),
                               *series({0, 1, 2, 3}, {NAN, INFINITY, NAN, 1}));
    QCOMPARE(delta->value(0), 0.0);
    QCOMPARE(delta->value(1), 0.0);
    QVERIFY(std::isnan(delta->value(2)));
    QVERIFY(std::isnan(delta->value(3)));
}

void TestSeriesMath::spreadIsPerStepOverThePresentRanks()
{
    const RankSpread spread =
        spreadOf({series({0, 1, 2}, {1, 2, 3}), series({1, 2, 3}, {4, -1, 7}), nullptr});
    QCOMPARE(text(*spread.min), QStringLiteral("0:1 1:2 2:-1 3:7"));
    QCOMPARE(text(*spread.max), QStringLiteral("0:1 1:4 2:3 3:7"));
    QCOMPARE(text(*spread.mean), QStringLiteral("0:1 1:3 2:1 3:7"));
}

void TestSeriesMath::spreadKeepsNaNVisibleInTheMean()
{
    const RankSpread spread = spreadOf({series({0}, {1}), series({0}, {NAN})});
    QCOMPARE(spread.min->value(0), 1.0);
    QCOMPARE(spread.max->value(0), 1.0);
    QVERIFY(std::isnan(spread.mean->value(0)));
}

void TestSeriesMath::smoothingUsesEveryValueAndIsUnbiased()
{
    const Values values{4, 4, 4, 9};
    const auto smooth = smoothed(*series({0, 1, 2, 3}, values), 0.9);
    QVERIFY(std::fabs(smooth->value(0) - 4) < 1e-12); // without the correction it would begin at 0.4
    QVERIFY(std::fabs(smooth->value(2) - 4) < 1e-12);
    double average = 0, weight = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        average += std::pow(0.9, double(3 - i)) * values[i];
        weight += std::pow(0.9, double(3 - i));
    }
    QVERIFY(std::fabs(smooth->value(3) - average / weight) < 1e-12);
    QCOMPARE(text(*smoothed(*series({0, 3, 4}, {1, 2, 3}), 0)), QStringLiteral("0:1 3:2 4:3"));
}

void TestSeriesMath::smoothingPassesNaNThrough()
{
    const auto smooth = smoothed(*series({0, 1, 2}, {4, NAN, 4}), 0.5);
    QVERIFY(std::isnan(smooth->value(1)));
    QCOMPARE(smooth->value(2), 4.0);
}

void TestSeriesMath::symlogThresholdFollowsTheSizes()
{
    QCOMPARE(symlogThresholdFor({series({0, 1, 2}, {0, 2e-7, -0.1}), nullptr}), 1e-7);
    QCOMPARE(symlogThresholdFor({series({0, 1}, {0, NAN})}), 1e-6);
    QCOMPARE(symlogThresholdFor({}), 1e-6);
}

QTEST_GUILESS_MAIN(TestSeriesMath)
#include "tst_series_math.moc"
