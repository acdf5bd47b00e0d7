// Distance of ranks to their median: what stands out, what does not, and that growing runs give the same answer.
#include "ui/plots/rank_fold.h"

#include <QTest>

#include <cmath>
#include <functional>
#include <random>

using namespace lockstep;

namespace {

using Value = std::function<double(int rank, std::int64_t step)>;

void append(RankFold& fold, int rank, std::int64_t first, std::int64_t last, const Value& value)
{
    std::vector<std::int64_t> steps;
    std::vector<double> values;
    for (std::int64_t step = first; step <= last; ++step) {
        steps.push_back(step);
        values.push_back(value(rank, step));
    }
    fold.append(rank, steps, values);
}

RankPicture pictureOf(int ranks, std::int64_t steps, const Value& value)
{
    RankFold fold;
    for (int rank = 0; rank < ranks; ++rank)
        append(fold, rank, 1, steps, value);
    return fold.picture();
}

// The same noise for the same rank and step.
double noise(int rank, std::int64_t step)
{
    std::mt19937_64 engine(std::uint64_t(step) * 1000003 + std::uint64_t(rank));
    engine.discard(4);
    return std::normal_distribution<double>(0, 0.1)(engine);
}

std::size_t beyond(const SeriesSnapshot& distances)
{
    return distances.countOutside(-6, 6);
}

} // namespace

class RankFoldTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    // 0.9 against 1.24: both lie equally far from their median, which must not be the measure of itself.
    void twoRanksThatStayApartAreSeen()
    {
        const auto apart = [](double by) {
            return pictureOf(2, 200, [by](int rank, std::int64_t step) {
                return 1 + 0.1 * noise(rank, step) + (rank == 0 ? -by : by);
            });
        };
        const RankPicture far = apart(0.17);
        QVERIFY(beyond(*far.distances[0]) > 150);
        QVERIFY(beyond(*far.distances[1]) > 150);
        QVERIFY(far.distances[0]->value(100) < 0 && far.distances[1]->value(100) > 0);
        QCOMPARE(beyond(*apart(0).distances[0]), std::size_t(0));
        // Equal in every bit is no distance, and one bit is still beyond any limit.
        const RankPicture equal = pictureOf(2, 100, [](int rank, std::int64_t step) {
            const double value = 1 + noise(0, step);
            return rank == 1 && step == 70 ? std::nextafter(value, 2.0) : value;
        });
        // Half of one bit is rounded to either of the two.
        QVERIFY(beyond(*equal.distances[0]) + beyond(*equal.distances[1]) > 0);
    }

    void ordinaryNoiseStaysWithinTheLimit_data()
    {
        QTest::addColumn<int>("ranks");
        for (const int ranks : {2, 3, 4, 8, 16})
            QTest::addRow("%d ranks", ranks) << ranks;
    }
    void ordinaryNoiseStaysWithinTheLimit()
    {
        QFETCH(int, ranks);
        const RankPicture picture = pictureOf(ranks, 3000, [](int rank, std::int64_t step) {
            return 2 * std::exp(-double(step) / 500) + noise(rank, step);
        });
        for (const auto& distances : picture.distances) {
            QCOMPARE(distances->size(), std::size_t(3000));
            QCOMPARE(beyond(*distances), std::size_t(0));
        }
    }

    // What ranks scatter by falls with their loss.
    void aLossThatFallsSteeplyRaisesNoAlarm()
    {
        const RankPicture picture = pictureOf(4, 64, [](int rank, std::int64_t step) {
            return 2.5 * std::exp(-double(step) / 16) * (1 + noise(rank, step));
        });
        for (const auto& distances : picture.distances)
            QCOMPARE(beyond(*distances), std::size_t(0));
    }

    void theOddRankStandsOutAndOnlyThatOne_data()
    {
        QTest::addColumn<int>("ranks");
        for (const int ranks : {3, 4, 8, 16})
            QTest::addRow("%d ranks", ranks) << ranks;
    }
    void theOddRankStandsOutAndOnlyThatOne()
    {
        QFETCH(int, ranks);
        const RankPicture picture = pictureOf(ranks, 320, [](int rank, std::int64_t step) {
            return noise(rank, step) - (rank == 1 && step >= 161 ? 3 : 0);
        });
        for (int rank = 0; rank < ranks; ++rank)
            QCOMPARE(beyond(*picture.distances[std::size_t(rank)]), std::size_t(rank == 1 ? 160 : 0));
        QCOMPARE(picture.distances[1]->step(picture.distances[1]->firstOutside(-6, 6)), std::int64_t(161));
        QVERIFY(picture.distances[1]->value(200) < 0);
    }

    void oneBitOfDifferenceBetweenEqualRanksIsBeyondTheLimit()
    {
        const double value = 1.2345678;
        const RankPicture picture = pictureOf(4, 40, [=](int rank, std::int64_t step) {
            return rank == 2 && step == 30 ? std::nextafter(value, 2) : value;
        });
        QCOMPARE(beyond(*picture.distances[2]), std::size_t(1));
        QCOMPARE(beyond(*picture.distances[0]), std::size_t(0));
        QCOMPARE(picture.distances[0]->value(29), 0.0); // not 0 / 0
        QVERIFY(picture.spread->value(29) > 0);
        QCOMPARE(picture.spread->value(0), 0.0);
    }

    void nothingIsJudgedBeforeEightSteps()
    {
        const auto value = [](int rank, std::int64_t) { return rank == 0 ? 50.0 : 0.01 * rank; };
        QCOMPARE(beyond(*pictureOf(4, 7, value).distances[0]), std::size_t(0));
        QCOMPARE(beyond(*pictureOf(4, 8, value).distances[0]), std::size_t(8));
    }

    void notANumberStaysVisibleAndSpoilsNothingElse()
    {
        const RankPicture picture = pictureOf(4, 32, [](int rank, std::int64_t step) {
            return rank == 3 && step == 20 ? NAN : noise(rank, step);
        });
        QVERIFY(std::isnan(picture.distances[3]->value(19)));
        for (int rank = 0; rank < 3; ++rank)
            QCOMPARE(picture.distances[std::size_t(rank)]->summary().bad, 0);
        QCOMPARE(picture.spread->summary().bad, 0);
    }

    // Rows come in pieces, the ranks out of step with each other, one rank late and one that ends early.
    void aGrowingRunGivesTheSameAnswerAsAFinishedOne()
    {
        const Value value = [](int rank, std::int64_t step) {
            return noise(rank, step) + (rank == 2 && step > 90 ? 2 : 0);
        };
        const std::int64_t last[] = {200, 200, 190, 130};
        RankFold whole, growing;
        for (int rank = 0; rank < 4; ++rank)
            append(whole, rank, 1, last[rank], value);
        std::int64_t at[] = {0, 0, 0, 0};
        for (int round = 0; round < 60; ++round) {
            for (int rank = 0; rank < 4; ++rank) {
                if (rank == 1 && round < 9)
                    continue;
                const std::int64_t to = std::min(last[rank], at[rank] + 3 + (round * 7 + rank * 5) % 11);
                append(growing, rank, at[rank] + 1, to, value);
                at[rank] = to;
            }
            (void)growing.picture();
        }
        const RankPicture a = whole.picture(), b = growing.picture();
        QCOMPARE(b.ranks, a.ranks);
        for (std::size_t rank = 0; rank < 4; ++rank) {
            QVERIFY(b.values[rank]->sameAs(*a.values[rank]));
            QVERIFY(b.distances[rank]->sameAs(*a.distances[rank]));
        }
        QVERIFY(b.spread->sameAs(*a.spread));
    }

    void theRangeOfTheOthersIsExact()
    {
        const RankPicture picture =
            pictureOf(4, 3, [](int rank, std::int64_t step) { return rank == 3 && step == 2 ? NAN : rank; });
        const RankRange range = rangeOf({picture.values[1], picture.values[2], picture.values[3]});
        QCOMPARE(range.low->value(0), 1.0);
        QCOMPARE(range.high->value(0), 3.0);
        QCOMPARE(range.median->value(0), 2.0);
        QCOMPARE(range.high->value(1), 2.0);
        QCOMPARE(range.median->value(1), 1.5);
    }

    void nothingRecordedIsNothingDrawn()
    {
        RankFold fold;
        QVERIFY(fold.picture().ranks.empty());
        QVERIFY(rangeOf({}).median->empty());
    }
};

QTEST_GUILESS_MAIN(RankFoldTest)
#include "tst_rank_fold.moc"
