// Which ids a rank sees, cut into steps: against the samplers of core/sampling, which have Python as their judge.
#include "core/engine/data_order.h"
#include "core/engine/lr_scheduler.h"

#include <QtTest>

using namespace lockstep;

namespace {

DataOrderSpec spec(std::int64_t size, int world, int rank, std::int64_t batch, int accumulate = 1)
{
    DataOrderSpec s;
    s.sampler.datasetSize = size;
    s.sampler.world = world;
    s.rank = rank;
    s.batch = batch;
    s.accumulate = accumulate;
    return s;
}

std::vector<std::int64_t> idsOfEpoch(DataOrder& order)
{
    std::vector<std::int64_t> ids;
    do {
        for (const MicroBatch& micro : order.nextStep([] { return 0; }))
            ids.insert(ids.end(), micro.ids.begin(), micro.ids.end());
    } while (!order.epochEnded());
    return ids;
}

} // namespace

class TestDataOrder : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aRankFollowsItsDistributedSampler();
    void eachEpochDrawsBaseSeedOnce();
    void pythonShuffleDrawsASecondSeedAndUsesIt();
    void accumulationWindowsEndWithTheEpoch();
    void joinedRanksAreTheirMicroBatchesInRankOrder();
    void seekContinuesInsideAnEpoch();
    void aScheduleRestoredContinuesWithTheSameBits();
};

void TestDataOrder::aRankFollowsItsDistributedSampler()
{
    DataOrder order(spec(103, 3, 1, 8));
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
        DistributedOrder expected{103, 3, true, false, 0, epoch};
        QCOMPARE(idsOfEpoch(order), rankOrder(expected, 1));
    }
}

void TestDataOrder::eachEpochDrawsBaseSeedOnce()
{
    DataOrder order(spec(20, 1, 0, 10));
    int draws = 0;
    for (int step = 0; step < 6; ++step)
        order.nextStep([&draws] { return std::uint64_t(++draws); });
    QCOMPARE(draws, 3);
}

void TestDataOrder::pythonShuffleDrawsASecondSeedAndUsesIt()
{
    DataOrderSpec s = spec(50, 1, 0, 50);
    s.pythonShuffle = true;
    DataOrder order(s);
    std::uint64_t draws = 0;
    const auto step = order.nextStep([&draws] { return ++draws; });
    QCOMPARE(draws, 2u);
    QCOMPARE(step.at(0).ids, randomOrder(50, 2));
}

void TestDataOrder::accumulationWindowsEndWithTheEpoch()
{
    DataOrder order(spec(50, 1, 0, 10, 2)); // five micro-batches: windows of 2, 2 and 1
    std::vector<std::size_t> sizes;
    for (int step = 0; step < 4; ++step)
        sizes.push_back(order.nextStep([] { return 0; }).size());
    QCOMPARE(sizes, (std::vector<std::size_t>{2, 2, 1, 2}));
    QCOMPARE(order.stepsPerEpoch(), 3);
}

void TestDataOrder::joinedRanksAreTheirMicroBatchesInRankOrder()
{
    DataOrderSpec s = spec(45, 2, 0, 10);
    s.joinedRanks = 2;
    DataOrder joined(s);
    DataOrder first(spec(45, 2, 0, 10));
    DataOrder second(spec(45, 2, 1, 10));
    const auto none = [] { return 0; };
    for (int step = 0; step < 6; ++step) {
        std::vector<std::int64_t> expected = first.nextStep(none).at(0).ids;
        const std::vector<std::int64_t> tail = second.nextStep(none).at(0).ids;
        expected.insert(expected.end(), tail.begin(), tail.end());
        QCOMPARE(joined.nextStep(none).at(0).ids, expected);
    }
}

void TestDataOrder::seekContinuesInsideAnEpoch()
{
    const auto none = [] { return 0; };
    DataOrder whole(spec(64, 2, 1, 4));
    for (int step = 0; step < 11; ++step)
        whole.nextStep(none);
    DataOrder resumed(spec(64, 2, 1, 4));
    resumed.seek(whole.position(), whole.orderSeed(), whole.baseSeed());
    for (int step = 0; step < 10; ++step)
        QCOMPARE(resumed.nextStep(none).at(0).ids, whole.nextStep(none).at(0).ids);
}

void TestDataOrder::aScheduleRestoredContinuesWithTheSameBits()
{
    LrScheduler whole("cosine", 0.1, 7, 0);
    for (int step = 0; step < 9; ++step)
        whole.advance();
    LrScheduler resumed("cosine", 0.1, 7, 0);
    resumed.restore(whole.lastEpoch(), whole.rate());
    for (int step = 0; step < 20; ++step) {
        whole.advance();
        resumed.advance();
        QCOMPARE(std::bit_cast<std::uint64_t>(resumed.rate()), std::bit_cast<std::uint64_t>(whole.rate()));
    }
}

QTEST_GUILESS_MAIN(TestDataOrder)
#include "tst_data_order.moc"
