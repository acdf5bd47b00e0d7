#include "core/align/tolerance.h"

#include "core/align/prefix_within.h"
#include "core/align/student.h"
#include "core/base/records.h"

#include <QtTest>

#include <cmath>
#include <limits>
#include <random>

using namespace lockstep;

namespace {
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
} // namespace

class TestTolerance : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void wordsAreUnderstood()
    {
        for (const char* text : {"exact", "ulp:4", "abs:0.001", "rel:1e-06", "envelope", "auto"}) {
            const Result<Tolerance> tolerance = parseTolerance(text);
            QVERIFY(tolerance.ok());
            QCOMPARE(toleranceName(*tolerance), std::string(text));
        }
    }

    void wrongWordsAreRefused()
    {
        for (const char* text : {"", "close", "ulp", "ulp:", "ulp:x", "abs:-1", "rel:nan", "abs:inf",
                                 "ulp:1e30", "rel:1e-6x", "EXACT"}) {
            const Result<Tolerance> tolerance = parseTolerance(text);
            QVERIFY2(!tolerance.ok(), text);
            QCOMPARE(tolerance.error().exitCode(), 2);
        }
    }

    void ulpDistanceCountsRepresentableNumbers()
    {
        QCOMPARE(ulpDistance(1.0, 1.0), std::uint64_t(0));
        QCOMPARE(ulpDistance(1.0, std::nextafter(1.0, 2)), std::uint64_t(1));
        QCOMPARE(ulpDistance(std::nextafter(1.0, 0), std::nextafter(1.0, 2)), std::uint64_t(2));
        QCOMPARE(ulpDistance(0.0, -0.0), std::uint64_t(0));
        QCOMPARE(ulpDistance(5e-324, -5e-324), std::uint64_t(2));
        QCOMPARE(ulpDistance(kInf, std::numeric_limits<double>::max()), std::uint64_t(1));
        QCOMPARE(ulpDistance(kInf, -kInf), 2 * bitsOf(kInf));
        QCOMPARE(ulpDistance(kNan, kNan), std::numeric_limits<std::uint64_t>::max());
    }

    // Blocks at once and value by value are one answer, wherever the first value beyond stands and whatever it is.
    void aPrefixIsJudgedLikeEveryValueOfIt_data()
    {
        QTest::addColumn<QString>("mode");
        for (const char* mode : {"exact", "ulp:0", "ulp:1", "ulp:4", "ulp:5.5", "ulp:1.8e19", "abs:0",
                                 "abs:1e-6", "abs:1e308", "rel:0", "rel:1e-9", "rel:3"})
            QTest::addRow("%s", mode) << QString::fromLatin1(mode);
    }
    void aPrefixIsJudgedLikeEveryValueOfIt()
    {
        QFETCH(QString, mode);
        const Tolerance tolerance = *parseTolerance(mode.toStdString());
        std::mt19937_64 random(7);
        const double odd[] = {kNan,  kInf,   -kInf, 0.0,       -0.0,     5e-324, -5e-324,
                              1e308, -1e308, 1,     1 + 1e-15, 1 + 1e-7, -1};
        const auto naive = [&](const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
            std::size_t i = 0;
            while (i < a.size() && within(tolerance.mode, tolerance.limit, a[i], b[i], ValueType::F64))
                ++i;
            return i;
        };
        std::size_t found = 0;
        for (int round = 0; round < 4000; ++round) {
            std::vector<std::uint64_t> a(random() % 300), b;
            for (std::uint64_t& value : a)
                value = bitsOf(std::ldexp(double(random() >> 11), int(random() % 40) - 60));
            b = a;
            for (int changes = int(random() % 4); changes > 0 && !a.empty(); --changes) {
                const std::size_t at = random() % a.size();
                if (random() % 2) {
                    a[at] = bitsOf(odd[random() % std::size(odd)]);
                    b[at] = bitsOf(odd[random() % std::size(odd)]);
                } else {
                    b[at] = a[at] + random() % 12 - 6; // some ulp away
                }
            }
            const std::size_t expected = naive(a, b);
            QCOMPARE(align::prefixWithin(tolerance, a, b), expected);
            found += expected < a.size();
        }
        QVERIFY(found > 100 || mode == QLatin1String("ulp:1.8e19") || mode == QLatin1String("abs:1e308"));
    }

    void modesJudgeValues_data()
    {
        QTest::addColumn<QString>("mode");
        QTest::addColumn<double>("a");
        QTest::addColumn<double>("b");
        QTest::addColumn<bool>("same");
        const auto row = [](const char* mode, double a, double b, bool same) {
            QTest::addRow("%s %g %g", mode, a, b) << QString::fromLatin1(mode) << a << b << same;
        };
        row("exact", 1, 1, true);
        row("exact", 1, std::nextafter(1, 2), false);
        row("exact", 0.0, -0.0, false);
        row("exact", kNan, kNan, true);
        row("exact", kNan, -kNan, false);
        row("exact", kInf, kInf, true);
        row("ulp:0", 0.0, -0.0, true);
        row("ulp:1", 1, std::nextafter(1, 2), true);
        row("ulp:1", 1, 1 + 3e-16, true);
        row("ulp:1", 1, 1 + 5e-16, false);
        row("abs:0.5", 1, 1.5, true);
        row("abs:0.5", 1, 1.500001, false);
        row("rel:0.1", 100, 90, true);
        row("rel:0.1", 100, 89, false);
        row("rel:0.1", 0, 0, true);
        row("rel:0.1", 0, 1e-300, false);
        for (const char* mode : {"ulp:1000000", "abs:1e300", "rel:1"}) {
            row(mode, kNan, kNan, false);
            row(mode, kNan, 1, false);
            row(mode, kInf, kInf, true);
            row(mode, kInf, -kInf, false);
            row(mode, kInf, 1e308, false);
        }
    }
    void modesJudgeValues()
    {
        QFETCH(QString, mode);
        QFETCH(double, a);
        QFETCH(double, b);
        QFETCH(bool, same);
        const Tolerance tolerance = *parseTolerance(mode.toStdString());
        QCOMPARE(within(tolerance.mode, tolerance.limit, bitsOf(a), bitsOf(b), ValueType::F64), same);
        QCOMPARE(within(tolerance.mode, tolerance.limit, bitsOf(b), bitsOf(a), ValueType::F64), same);
    }

    void integersHaveNoDistance()
    {
        for (const CompareMode mode :
             {CompareMode::Ulp, CompareMode::Absolute, CompareMode::Relative, CompareMode::Envelope}) {
            QVERIFY(within(mode, 1e300, 7, 7, ValueType::U64));
            QVERIFY(!within(mode, 1e300, 7, 8, ValueType::U64));
            QVERIFY(!within(mode, 1e300, 7, 8, ValueType::I64));
        }
    }

    // Tables of Student's t, for instance in Abramowitz and Stegun, table 26.10.
    void studentQuantilesMatchTheTables()
    {
        const auto near = [](double a, double b) { return std::fabs(a - b) <= 6e-4 * b; };
        QVERIFY(near(align::studentQuantile(0.975, 1), 12.706));
        QVERIFY(near(align::studentQuantile(0.975, 2), 4.303));
        QVERIFY(near(align::studentQuantile(0.975, 10), 2.228));
        QVERIFY(near(align::studentQuantile(0.9995, 5), 6.869));
        QVERIFY(near(align::studentQuantile(0.9995, 4), 8.610));
        QVERIFY(near(align::studentQuantile(0.9999, 2), 70.700));
    }
};

QTEST_GUILESS_MAIN(TestTolerance)
#include "tst_tolerance.moc"
