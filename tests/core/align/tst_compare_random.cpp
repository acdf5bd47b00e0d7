// The comparison with its chunk pruning and windows against a brute-force loop over plain maps.
#include "core/align/compare.h"
#include "core/store/run_reader.h"
#include "core/store/run_writer.h"

#include <QtTest>

#include <map>
#include <random>

using namespace lockstep;

namespace {

using Series = std::map<std::int64_t, std::uint64_t>;

struct Generated {
    std::map<int, Series> ranks;
    std::int64_t first(int rank) const { return ranks.at(rank).begin()->first; }
    std::int64_t last(int rank) const { return ranks.at(rank).rbegin()->first; }
};

void store(const std::string& folder, const Generated& run, std::mt19937_64& random)
{
    RunWriter writer = std::move(RunWriter::create(folder)).value();
    const std::size_t batch = 1 + random() % 6000;
    for (const auto& [rank, series] : run.ranks) {
        std::size_t count = 0;
        for (const auto& [step, bits] : series) {
            QVERIFY(writer.append(StepRecord{rank, step, {{Quantity::Loss, 0, bits}}}).ok());
            if (++count % batch == 0)
                QVERIFY(writer.commit().ok());
        }
    }
    if (random() % 2)
        QVERIFY(writer.finish().ok());
    else
        QVERIFY(writer.commit().ok());
}

struct Expected {
    std::int64_t points = 0;
    std::optional<FirstDifference> first;
};

Expected bruteForce(const Generated& a, const Generated& b, const Tolerance& tolerance)
{
    std::int64_t from = 0, to = INT64_MAX;
    for (const Generated* run : {&a, &b}) {
        for (const auto& [rank, series] : run->ranks) {
            from = std::max(from, run->first(rank));
            to = std::min(to, run->last(rank));
        }
    }
    Expected expected;
    for (const auto& [rank, seriesA] : a.ranks) {
        const Series& seriesB = b.ranks.at(rank);
        for (std::int64_t step = from; step <= to; ++step) {
            const auto inA = seriesA.find(step);
            const auto inB = seriesB.find(step);
            if (inA == seriesA.end() && inB == seriesB.end())
                continue;
            ++expected.points;
            const bool missing = inA == seriesA.end() || inB == seriesB.end();
            if (!missing && within(tolerance.mode, tolerance.limit, inA->second, inB->second, ValueType::F64))
                continue;
            if (!expected.first || step < expected.first->step) {
                expected.first = FirstDifference();
                expected.first->step = step;
                expected.first->rank = rank;
            }
            break;
        }
    }
    return expected;
}

} // namespace

class TestCompareRandom : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void theAnswerEqualsBruteForce_data()
    {
        QTest::addColumn<QString>("mode");
        for (const char* mode : {"exact", "ulp:2", "abs:0.001", "rel:0.0001"})
            QTest::addRow("%s", mode) << QString::fromLatin1(mode);
    }
    void theAnswerEqualsBruteForce()
    {
        QFETCH(QString, mode);
        const Tolerance tolerance = *parseTolerance(mode.toStdString());
        int different = 0;
        for (unsigned seed = 0; seed < 10; ++seed) {
            std::mt19937_64 random(seed);
            const auto chance = [&random](double p) { return double(random() >> 11) * 0x1p-53 < p; };
            const double gaps = chance(0.5) ? 0 : 0.0005;
            const double noise = chance(0.5) ? 0 : 1e-5;
            Generated a, b;
            for (int rank = 0; rank < 2; ++rank) {
                const std::int64_t stride = chance(0.2) ? 10 : 1;
                const std::int64_t length = 9000 + std::int64_t(random() % 9000);
                for (std::int64_t k = 0; k < length; ++k) {
                    const double value = chance(0.001) ? std::numeric_limits<double>::quiet_NaN()
                                                       : 2 + double(random() >> 11) * 0x1p-53;
                    if (!chance(gaps))
                        a.ranks[rank][k * stride] = bitsOf(value);
                }
                b.ranks[rank] = a.ranks[rank];
                for (auto& [step, bits] : b.ranks[rank])
                    bits = bitsOf(doubleOf(bits) + noise * double(random() >> 11) * 0x1p-53);
                for (int change = int(random() % 4); change > 0; --change) {
                    const auto at =
                        b.ranks[rank].lower_bound(std::int64_t(random() % std::uint64_t(length)) * stride);
                    if (at == b.ranks[rank].end())
                        continue;
                    switch (random() % 4) {
                    case 0:
                        at->second ^= 1;
                        break;
                    case 1:
                        at->second = bitsOf(doubleOf(at->second) + 1);
                        break;
                    case 2:
                        at->second ^= 8;
                        break;
                    default:
                        b.ranks[rank].erase(at);
                    }
                }
            }
            QTemporaryDir dir;
            const std::string folderA = dir.filePath(QStringLiteral("a")).toStdString();
            const std::string folderB = dir.filePath(QStringLiteral("b")).toStdString();
            store(folderA, a, random);
            store(folderB, b, random);
            RunReader readerA = std::move(RunReader::open(folderA)).value();
            RunReader readerB = std::move(RunReader::open(folderB)).value();
            RunConfig config;
            config.mode = "ddp";
            config.world = 2;
            CompareOptions options;
            options.tolerance = tolerance;
            const Result<Comparison> comparison = compareRuns(readerA, config, readerB, config, options);
            QVERIFY(comparison.ok());
            const Expected expected = bruteForce(a, b, tolerance);
            QCOMPARE(comparison->quantities.size(), std::size_t(1));
            const QuantityResult& result = comparison->quantities.front();
            QCOMPARE(result.points, expected.points);
            QCOMPARE(result.first.has_value(), expected.first.has_value());
            if (expected.first) {
                ++different;
                QCOMPARE(result.first->step, expected.first->step);
                QCOMPARE(result.first->rank, expected.first->rank);
            }
        }
        QVERIFY(different > 3);
        QVERIFY(different < 10 || mode != QStringLiteral("exact"));
    }
};

QTEST_GUILESS_MAIN(TestCompareRandom)
#include "tst_compare_random.moc"
