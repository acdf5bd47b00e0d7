// How a run goes on from a checkpoint of another one: the global batch, the place in the epoch, and when it is refused.
#include "core/engine/resume_plan.h"

#include <QtTest>

#include <map>

using namespace lockstep;

namespace {

constexpr std::int64_t kSamples = 1797; // as digits-cnn: does not divide by 2, 4 or 32

RunConfig config(const std::string& mode, int world, std::int64_t batch, int accumulate)
{
    RunConfig c;
    c.mode = mode;
    c.world = world;
    c.batch = batch;
    c.accumulate = accumulate;
    return c;
}

DataOrder orderOf(const RunConfig& c, int rank)
{
    DataOrderSpec spec;
    spec.sampler = {kSamples, dataRanks(c), c.shuffle, c.dropLast, c.samplerSeed, 0};
    spec.rank = rank;
    spec.batch = c.batch;
    spec.accumulate = c.accumulate;
    return DataOrder(spec);
}

std::vector<DataOrder> ordersOf(const RunConfig& c)
{
    std::vector<DataOrder> orders;
    for (int r = 0; r < dataRanks(c); ++r)
        orders.push_back(orderOf(c, r));
    return orders;
}

using Counts = std::map<std::int64_t, int>; // by sample

std::int64_t takeStep(std::vector<DataOrder>& orders, Counts& counts)
{
    std::int64_t samples = 0;
    for (DataOrder& order : orders)
        for (const MicroBatch& micro : order.nextStep([] { return 0; }))
            for (const std::int64_t id : micro.ids) {
                ++counts[id];
                ++samples;
            }
    return samples;
}

SavedRun savedAfter(const RunConfig& c, std::vector<DataOrder>& orders, int steps, Counts& counts)
{
    SavedRun saved;
    saved.config = c;
    for (int s = 0; s < steps; ++s)
        takeStep(orders, counts);
    saved.step = steps;
    if (steps > 0)
        saved.position = orders.front().position();
    saved.schedulerPeriod = 1;
    return saved;
}

} // namespace

class TestResumePlan : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theSameConfigurationStaysAsItIs();
    void fewerProcessesWorkThroughTheRanksThatWere();
    void backToManyProcessesEachHasItsRankAgain();
    void otherRanksDivideTheGlobalBatch();
    void noSampleIsLostOrSeenTwice_data();
    void noSampleIsLostOrSeenTwice();
    void whatCannotGoOnIsRefused_data();
    void whatCannotGoOnIsRefused();
    void anotherOrderIsPossibleAtTheEndOfAnEpoch();
    void theScheduleAndTheOptimizerKeepTheirOptions();
};

void TestResumePlan::theSameConfigurationStaysAsItIs()
{
    SavedRun saved;
    saved.config = config("ddp", 2, 16, 2);
    saved.position = {1, 10};
    const auto plan = planResume(saved.config, saved, kSamples);
    QVERIFY(plan.ok());
    QVERIFY(plan->sameRanks);
    QCOMPARE(plan->config.dataWorld, 0);
    QCOMPARE(plan->position.consumed, std::int64_t(10));
}

void TestResumePlan::fewerProcessesWorkThroughTheRanksThatWere()
{
    SavedRun saved;
    saved.config = config("ddp", 4, 16, 2);
    saved.position = {0, 10};
    for (const RunConfig& wanted :
         {config("single", 1, 32, 1), config("ddp", 2, 32, 1), config("ddp", 1, 32, 1)}) {
        const auto plan = planResume(wanted, saved, kSamples);
        QVERIFY(plan.ok());
        QVERIFY(!plan->sameRanks);
        QCOMPARE(plan->config.dataWorld, 4);
        QCOMPARE(plan->config.batch, std::int64_t(16));
        QCOMPARE(plan->config.accumulate, 2);
        QCOMPARE(plan->position.consumed, std::int64_t(10));
        QVERIFY(validate(plan->config).ok());
    }
}

void TestResumePlan::backToManyProcessesEachHasItsRankAgain()
{
    SavedRun saved;
    saved.config = config("single", 1, 16, 2);
    saved.config.dataWorld = 4;
    const auto plan = planResume(config("ddp", 4, 32, 1), saved, kSamples);
    QVERIFY(plan.ok());
    QCOMPARE(plan->config.dataWorld, 0);
    QCOMPARE(samplesPerStep(plan->config), std::int64_t(128));
}

void TestResumePlan::otherRanksDivideTheGlobalBatch()
{
    SavedRun saved;
    saved.config = config("single", 1, 32, 1);
    const auto up = planResume(config("ddp", 4, 32, 1), saved, kSamples);
    QVERIFY(up.ok());
    QCOMPARE(up->config.batch, std::int64_t(8));
    QCOMPARE(up->config.accumulate, 1);

    saved.config = config("ddp", 4, 30, 1); // 120 samples
    const auto three = planResume(config("ddp", 3, 32, 1), saved, kSamples);
    QVERIFY(three.ok());
    QCOMPARE(three->config.batch, std::int64_t(20));
    QCOMPARE(three->config.accumulate, 2);
}

void TestResumePlan::noSampleIsLostOrSeenTwice_data()
{
    QTest::addColumn<int>("from");
    QTest::addColumn<int>("to");
    QTest::addColumn<int>("steps");
    for (const auto& [from, to] : {std::pair(4, 1), {4, 2}, {2, 1}, {1, 4}, {4, 3}, {3, 4}, {2, 6}})
        for (const int steps : {0, 1, 5, 18, 19, 30})
            QTest::addRow("%d to %d after %d", from, to, steps) << from << to << steps;
}

void TestResumePlan::noSampleIsLostOrSeenTwice()
{
    QFETCH(int, from);
    QFETCH(int, to);
    QFETCH(int, steps);
    const RunConfig before = config(from == 1 ? "single" : "ddp", from, 96 / from, 1);
    Counts counts;
    std::vector<DataOrder> orders = ordersOf(before);
    const SavedRun saved = savedAfter(before, orders, steps, counts);
    const auto plan = planResume(config(to == 1 ? "single" : "ddp", to, 32, 1), saved, kSamples);
    QVERIFY(plan.ok());
    QCOMPARE(samplesPerStep(plan->config), std::int64_t(96));

    std::vector<DataOrder> after = ordersOf(plan->config);
    for (DataOrder& order : after)
        if (steps > 0)
            order.seek(plan->position, 0, 0);
    if (steps == 19) // the whole epoch: the next one begins
        counts.clear();
    if (steps > 19) {
        counts.clear();
        std::vector<DataOrder> again = ordersOf(before);
        for (DataOrder& order : again)
            order.seek({1, 0}, 0, 0);
        for (int s = 19; s < steps; ++s)
            takeStep(again, counts);
    }
    std::int64_t total = 0;
    do {
        total = takeStep(after, counts);
        QVERIFY(total <= 96);
    } while (!after.front().epochEnded());
    QCOMPARE(std::int64_t(counts.size()), kSamples); // none is lost
    std::int64_t repeats = 0;
    for (const auto& [id, n] : counts)
        repeats += n - 1;
    const int ranks = dataRanks(plan->config);
    const std::int64_t padding = (ranks - kSamples % ranks) % ranks;
    QCOMPARE(repeats, padding); // those every DistributedSampler of this world adds at the end
}

void TestResumePlan::whatCannotGoOnIsRefused_data()
{
    QTest::addColumn<RunConfig>("wanted");
    QTest::addColumn<QString>("word");
    const RunConfig saved = config("ddp", 2, 20, 1);
    const auto row = [&](const char* name, const char* word, auto change) {
        RunConfig wanted = saved;
        change(wanted);
        QTest::newRow(name) << wanted << word;
    };
    row("workload", "char-gpt", [](RunConfig& c) { c.workload = "char-gpt"; });
    row("optimizer", "adam", [](RunConfig& c) { c.optimizer = "sgd"; });
    row("schedule", "none", [](RunConfig& c) { c.scheduler = "cosine"; });
    row("ranks", "3 ranks", [](RunConfig& c) { c.world = 3; });
    row("sampler seed", "order of samples", [](RunConfig& c) { c.samplerSeed = 9; });
    row("shuffle", "order of samples", [](RunConfig& c) { c.shuffle = false; });
    row("python order", "order of samples",
        [](RunConfig& c) { c.mode = "single", c.world = 1, c.order = "python"; });
}

void TestResumePlan::whatCannotGoOnIsRefused()
{
    QFETCH(RunConfig, wanted);
    QFETCH(QString, word);
    SavedRun saved;
    saved.config = config("ddp", 2, 20, 1);
    saved.position = {0, 3};
    const auto plan = planResume(wanted, saved, kSamples);
    QVERIFY(!plan.ok());
    QCOMPARE(plan.error().kind, ErrorKind::Usage);
    QVERIFY2(plan.error().sentence().find(word.toStdString()) != std::string::npos,
             plan.error().sentence().c_str());
}

void TestResumePlan::anotherOrderIsPossibleAtTheEndOfAnEpoch()
{
    SavedRun saved;
    saved.config = config("ddp", 2, 32, 1);
    saved.position = {3, 29}; // ceil(899 / 32)
    RunConfig wanted = config("single", 1, 64, 1);
    wanted.order = "python";
    const auto plan = planResume(wanted, saved, kSamples);
    QVERIFY(plan.ok());
    QCOMPARE(plan->position.epoch, std::int64_t(3));
    QCOMPARE(plan->position.consumed, std::int64_t(29)); // ceil(1797 / 64): used up here, too
}

void TestResumePlan::theScheduleAndTheOptimizerKeepTheirOptions()
{
    SavedRun saved;
    saved.config = config("single", 1, 32, 1);
    saved.config.lr = 0.25;
    saved.config.momentum = 0.5;
    saved.config.weightDecay = 0.125;
    saved.schedulerPeriod = 77;
    const auto plan = planResume(config("single", 1, 32, 1), saved, kSamples);
    QVERIFY(plan.ok());
    QCOMPARE(plan->config.lr, 0.25);
    QCOMPARE(plan->config.momentum, 0.5);
    QCOMPARE(plan->config.weightDecay, 0.125);
    QCOMPARE(plan->config.schedulerPeriod, std::int64_t(77));
}

QTEST_GUILESS_MAIN(TestResumePlan)
#include "tst_resume_plan.moc"
