#include "core/gates/coverage.h"

#include "core/gates/data_plan.h"
#include "core/gates/every_world.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace lockstep;

namespace {

// An epoch from explicit lists, one per rank.
EpochOrder orderOf(std::vector<std::vector<std::uint32_t>> lists)
{
    auto owner = std::make_shared<std::vector<std::vector<std::uint32_t>>>(std::move(lists));
    EpochOrder order;
    for (const auto& list : *owner)
        order.ranks.push_back({list.data(), 1, list.size(), nullptr, nullptr});
    order.owner = owner;
    return order;
}

// The same counts with sets, the slow and obvious way; without padding.
struct Naive {
    std::int64_t distinct = 0, overlapped = 0, repeatedInRank = 0;
    explicit Naive(const EpochOrder& order)
    {
        std::map<std::uint32_t, std::set<std::size_t>> ranksOf;
        for (std::size_t r = 0; r < order.ranks.size(); ++r) {
            std::set<std::uint32_t> own;
            for (std::size_t p = 0; p < order.ranks[r].count; ++p) {
                const std::uint32_t id = order.ranks[r][p];
                repeatedInRank += !own.insert(id).second;
                ranksOf[id].insert(r);
            }
        }
        distinct = std::int64_t(ranksOf.size());
        for (const auto& [id, ranks] : ranksOf)
            overlapped += ranks.size() > 1;
    }
};

} // namespace

class TestCoverage : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aPartitionIsClean();
    void padsExactlyFromTheHead_data();
    void padsExactlyFromTheHead();
    void dropLastOmitsNModW();
    void randomOrdersCountLikeSets();
    void dealtAndListedOrdersCountAlike();
    void threadsDoNotChangeTheCounts();
    void namesBothPlacesOfARepeat();
    void namesOmittedIds();
    void idsBeyondTheDatasetAreCounted();
    void wrongPaddingIsOverlap();
    void everyWorldCovers();
};

void TestCoverage::aPartitionIsClean()
{
    const EpochCoverage c = coverEpoch(orderOf({{0, 2, 4}, {1, 3, 5}}), 6);
    QVERIFY(c.partition());
    QCOMPARE(c.omitted, 0);
    QCOMPARE(c.padding, 0);
    QVERIFY(!c.ranksIdentical);
}

void TestCoverage::padsExactlyFromTheHead_data()
{
    QTest::addColumn<qint64>("size");
    QTest::addColumn<int>("world");
    for (const qint64 size : {1, 2, 7, 1000, 1797, 4096})
        for (const int world : {1, 2, 3, 4, 7, 8, 64, 1024})
            QTest::addRow("%lld-%d", size, world) << size << world;
}

void TestCoverage::padsExactlyFromTheHead()
{
    QFETCH(qint64, size);
    QFETCH(int, world);
    DataPlan plan;
    plan.datasetSize = size;
    plan.world = world;
    const EpochCoverage c = coverEpoch(simulateEpoch(plan, 1), size);
    QVERIFY(c.partition());
    QCOMPARE(c.padding, expectedPadding(size, world, false));
    QCOMPARE(c.omitted, 0);
    QCOMPARE(c.rows, c.distinct + c.padding);
}

void TestCoverage::dropLastOmitsNModW()
{
    DataPlan plan;
    plan.datasetSize = 202;
    plan.world = 4;
    plan.dropLast = true;
    const EpochCoverage c = coverEpoch(simulateEpoch(plan, 0), 202);
    QCOMPARE(c.omitted, 2);
    QCOMPARE(c.omissions.size(), std::size_t(2));
    QCOMPARE(c.padding, 0);
}

void TestCoverage::randomOrdersCountLikeSets()
{
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        const int world = 1 + int(random() % 6);
        const std::uint32_t size = 1 + random() % 40;
        std::vector<std::vector<std::uint32_t>> lists(static_cast<std::size_t>(world));
        // Unequal lengths, so that nothing counts as padding.
        for (std::size_t r = 0; r < lists.size(); ++r)
            for (std::size_t p = 0; p < 50 + r; ++p)
                lists[r].push_back(std::uint32_t(random() % size));
        if (world == 1)
            lists[0].resize(size + 1);
        const EpochOrder order = orderOf(lists);
        const EpochCoverage c = coverEpoch(order, size);
        const Naive naive(order);
        QCOMPARE(c.distinct, naive.distinct);
        QCOMPARE(c.omitted, std::int64_t(size) - naive.distinct);
        QCOMPARE(c.overlapped, naive.overlapped);
        QCOMPARE(c.repeatedInRank, naive.repeatedInRank);
    }
}

void TestCoverage::dealtAndListedOrdersCountAlike()
{
    for (const char* fault : {"", "A3", "A4", "A10"}) {
        DataPlan plan;
        plan.datasetSize = 1001;
        plan.world = 4;
        if (*fault)
            plan.faults.push_back({fault, {}});
        const EpochOrder dealt = simulateEpoch(plan, 1);
        std::vector<std::vector<std::uint32_t>> lists;
        for (const RankIds& rank : dealt.ranks) {
            lists.emplace_back();
            for (std::size_t p = 0; p < rank.count; ++p)
                lists.back().push_back(rank[p]);
        }
        const EpochCoverage a = coverEpoch(dealt, 1001);
        const EpochCoverage b = coverEpoch(orderOf(lists), 1001);
        QCOMPARE(a.overlapped, b.overlapped);
        QCOMPARE(a.omitted, b.omitted);
        QCOMPARE(a.padding, b.padding);
        QCOMPARE(a.sequences, b.sequences);
    }
}

void TestCoverage::threadsDoNotChangeTheCounts()
{
    DataPlan plan;
    plan.datasetSize = 3'000'001;
    plan.world = 3;
    const EpochOrder order = simulateEpoch(plan, 0);
    const EpochCoverage one = coverEpoch(order, plan.datasetSize, 1);
    const EpochCoverage two = coverEpoch(order, plan.datasetSize, 2);
    QVERIFY(two.partition());
    QCOMPARE(two.omitted, 0);
    QCOMPARE(two.padding, 2);
    QCOMPARE(two.sequences, one.sequences);
}

void TestCoverage::namesBothPlacesOfARepeat()
{
    const EpochCoverage c = coverEpoch(orderOf({{5, 0, 1}, {2, 3, 5}}), 6);
    QCOMPARE(c.overlapped, 1);
    QCOMPARE(c.repeats.size(), std::size_t(1));
    const RepeatedId& r = c.repeats.front();
    QCOMPARE(r.id, 5u);
    QCOMPARE(r.firstRank, 0);
    QCOMPARE(r.firstPosition, 0);
    QCOMPARE(r.rank, 1);
    QCOMPARE(r.position, 2);
}

void TestCoverage::namesOmittedIds()
{
    const EpochCoverage c = coverEpoch(orderOf({{0, 2}, {5, 4}}), 7);
    QCOMPARE(c.omitted, 3);
    QCOMPARE(c.omissions, (std::vector<std::uint32_t>{1, 3, 6}));
}

void TestCoverage::idsBeyondTheDatasetAreCounted()
{
    const EpochCoverage c = coverEpoch(orderOf({{0, 9}, {1, 2}}), 4);
    QCOMPARE(c.outOfRange, 1);
    QCOMPARE(c.omitted, 1);
}

void TestCoverage::wrongPaddingIsOverlap()
{
    // 5 samples on 2 ranks: the padding row must repeat the head (0), here it repeats 3.
    const EpochCoverage right = coverEpoch(orderOf({{0, 2, 4}, {1, 3, 0}}), 5);
    QCOMPARE(right.padding, 1);
    QCOMPARE(right.overlapped, 0);
    const EpochCoverage wrong = coverEpoch(orderOf({{0, 2, 4}, {1, 3, 2}}), 5);
    QCOMPARE(wrong.padding, 0);
    QCOMPARE(wrong.overlapped, 1);
}

void TestCoverage::everyWorldCovers()
{
    for (const bool dropLast : {false, true}) {
        DataPlan plan;
        plan.datasetSize = 1038;
        plan.dropLast = dropLast;
        const WorldSweep sweep = coverEveryWorld(plan);
        QCOMPARE(sweep.worlds, 1024);
        QCOMPARE(sweep.failing, 0);
    }
}

QTEST_GUILESS_MAIN(TestCoverage)
#include "tst_coverage.moc"
