#include "core/gates/data_judge.h"

#include <QTest>

#include <random>

using namespace lockstep;

namespace {

DataPlan planFor(int world, std::int64_t size = 202)
{
    DataPlan plan;
    plan.datasetSize = size;
    plan.world = world;
    plan.batch = 8;
    plan.epochs = 3;
    plan.referenceBatch = 8 * world;
    return plan;
}

DataVerdict judge(const DataPlan& plan)
{
    PlanSource source(plan);
    Result<DataVerdict> verdict = judgeData(source, plan);
    Q_ASSERT(verdict.ok());
    return *verdict;
}

const GateCheck* check(const DataVerdict& verdict, const std::string& id)
{
    for (const GateCheck& c : verdict.checks)
        if (c.id == id)
            return &c;
    return nullptr;
}

const DataFinding* finding(const DataVerdict& verdict, const std::string& cause)
{
    for (const DataFinding& f : verdict.findings)
        if (f.cause == cause)
            return &f;
    return nullptr;
}

// "A3 fails, F7 fails": the causes and failing checks of a verdict, for messages.
QByteArray describe(const DataVerdict& verdict)
{
    std::string text;
    for (const DataFinding& f : verdict.findings)
        text += f.cause + (f.note ? " (note) " : " ");
    for (const GateCheck& c : verdict.checks)
        if (c.verdict != "pass")
            text += "| " + c.id + " " + c.verdict + " " + c.value + ": " + c.sentence + " ";
    return QByteArray::fromStdString(text);
}

} // namespace

class TestDataJudge : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void plantedFaultsAreNamed_data();
    void plantedFaultsAreNamed();
    void cleanConfigurationsRaiseNoAlarm();
    void paddingAndDropLastAreNotesOfACleanPlan();
    void aSingleWrongIdFailsWithoutAnInventedCause();
    void unequalSharesAreB4();
    void oneEpochCannotShowSetEpoch();
    void contentOfASimulationIsNotClaimed();
    void aScriptThatDrawsNothingMayShareItsStreams();
    void aScriptsOwnSamplerIsNotHeldAgainstTorchs();
    void stopsOnRequest();
    void planSurvivesItsJson();
    void impossiblePlansAreRefused();
};

void TestDataJudge::plantedFaultsAreNamed_data()
{
    QTest::addColumn<QString>("cause");
    QTest::addColumn<int>("world");
    for (const int world : {2, 3, 4, 8})
        for (const char* cause :
             {"A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8", "A9", "A10", "E6", "F7", "F9"})
            QTest::addRow("%s-w%d", cause, world) << QString(cause) << world;
}

void TestDataJudge::plantedFaultsAreNamed()
{
    QFETCH(QString, cause);
    QFETCH(int, world);
    const std::string id = cause.toStdString();
    // 203 leaves a remainder at world 2, 3, 4 and 8, for padding and drop_last.
    DataPlan plan = planFor(world, 203);
    plan.evaluation = id == "F9";
    plan.faults.push_back({id, {}});
    const DataVerdict verdict = judge(plan);
    const DataFinding* f = finding(verdict, id);
    QVERIFY2(f, describe(verdict).constData());
    QVERIFY2(!f->sentence.empty() && !f->fix.empty(), id.c_str());
    const std::int64_t perEpoch = (203 + 8 * world - 1) / (8 * world);

    if (id == "A5") {
        QVERIFY(f->note);
        QCOMPARE(f->step, perEpoch);
        QCOMPARE(f->rank, world - int(expectedPadding(203, world, false)));
        QCOMPARE(verdict.verdict, std::string("pass"));
        return;
    }
    QCOMPARE(verdict.verdict, std::string("fail"));
    QVERIFY(!f->note);
    // The named cause is the only fault.
    for (const DataFinding& other : verdict.findings)
        QVERIFY2(other.note || other.cause == id, describe(verdict).constData());
    for (const GateCheck& c : verdict.checks)
        if (c.verdict == "fail")
            QCOMPARE(QString::fromStdString(c.cause), cause);

    if (id == "A3") {
        QCOMPARE(f->step, perEpoch + 1);
        QCOMPARE(f->epoch, 1);
        QCOMPARE(f->rank, -1);
    } else if (id == "F7") {
        QCOMPARE(f->epoch, 1);
        QCOMPARE(f->step, perEpoch + perEpoch / 2 + 1);
    } else if (id == "A6") {
        QCOMPARE(f->step, (203 / world + 7) / 8);
    } else if (id == "F9") {
        QVERIFY(!check(verdict, "data.evaluation")); // that is of runs that recorded evaluations
        QCOMPARE(f->step, perEpoch);
        QCOMPARE(f->rank, world - int(expectedPadding(203, world, false)));
    } else {
        QCOMPARE(f->step, 1);
        if (id != "A9" && id != "A10" && id != "A7")
            QCOMPARE(f->rank, 1);
    }
}

void TestDataJudge::cleanConfigurationsRaiseNoAlarm()
{
    std::mt19937 random(20);
    for (int round = 0; round < 200; ++round) {
        DataPlan plan;
        const std::int64_t sizes[] = {0, 1, 2, 3, 7, 16, 100, 202, 1000, 1797, 5000};
        plan.datasetSize = sizes[random() % std::size(sizes)];
        plan.world = 1 + int(random() % (round % 4 == 0 ? 64 : 8));
        plan.batch = 1 + std::int64_t(random() % 64);
        plan.accumulate = 1 + int(random() % 3);
        plan.epochs = 2 + std::int64_t(random() % 3);
        plan.shuffle = random() % 4 != 0;
        plan.dropLast = random() % 3 == 0;
        plan.samplerSeed = random();
        plan.seed = random();
        plan.workers = int(random() % 4);
        plan.referenceBatch = plan.globalBatch();
        const DataVerdict verdict = judge(plan);
        QVERIFY2(verdict.verdict == "pass", describe(verdict).constData());
        for (const DataFinding& f : verdict.findings)
            QVERIFY2(f.note, describe(verdict).constData());
    }
}

void TestDataJudge::paddingAndDropLastAreNotesOfACleanPlan()
{
    DataPlan plan = planFor(4, 203);
    DataVerdict verdict = judge(plan);
    QCOMPARE(verdict.verdict, std::string("pass"));
    QVERIFY(finding(verdict, "A5"));
    QCOMPARE(check(verdict, "data.padding")->value, std::string("1"));
    plan.dropLast = true;
    verdict = judge(plan);
    QCOMPARE(verdict.verdict, std::string("pass"));
    QVERIFY(finding(verdict, "A6")->note);
    QCOMPARE(check(verdict, "data.omission")->value, std::string("3 of 203"));
    QCOMPARE(check(verdict, "data.omission")->limit, std::string("3"));
}

namespace {

// A clean plan's orders in memory, free to be damaged.
struct Listed {
    explicit Listed(const DataPlan& plan, bool steps = false) : plan(plan)
    {
        facts.name = "list";
        facts.world = plan.world;
        facts.datasetSize = plan.datasetSize;
        for (std::int64_t e = 0; e < plan.epochs; ++e) {
            const EpochOrder order = simulateEpoch(plan, e);
            lists.emplace_back();
            stepLists.emplace_back();
            for (const RankIds& rank : order.ranks) {
                lists.back().emplace_back();
                stepLists.back().emplace_back();
                for (std::size_t p = 0; p < rank.count; ++p) {
                    lists.back().back().push_back(rank[p]);
                    if (steps)
                        stepLists.back().back().push_back(std::uint32_t(1 + p / std::size_t(plan.batch)));
                }
            }
        }
    }
    DataVerdict judge() const
    {
        std::vector<EpochOrder> epochs;
        for (std::size_t e = 0; e < lists.size(); ++e) {
            EpochOrder order;
            order.epoch = std::int64_t(e);
            for (std::size_t r = 0; r < lists[e].size(); ++r)
                order.ranks.push_back({lists[e][r].data(), 1, lists[e][r].size(), nullptr,
                                       stepLists[e][r].empty() ? nullptr : stepLists[e][r].data()});
            epochs.push_back(order);
        }
        MemorySource source(facts, epochs);
        return *judgeData(source, plan);
    }

    DataPlan plan;
    DataFacts facts;
    std::vector<std::vector<std::vector<std::uint32_t>>> lists;
    std::vector<std::vector<std::vector<std::uint32_t>>> stepLists;
};

} // namespace

void TestDataJudge::aSingleWrongIdFailsWithoutAnInventedCause()
{
    Listed listed(planFor(4, 200));
    QCOMPARE(listed.judge().verdict, std::string("pass"));
    listed.lists[1][2][20] = listed.lists[1][3][5];
    const DataVerdict verdict = listed.judge();
    QCOMPARE(verdict.verdict, std::string("fail"));
    const GateCheck* overlap = check(verdict, "data.overlap");
    QCOMPARE(overlap->verdict, std::string("fail"));
    QCOMPARE(overlap->value, std::string("1 sample"));
    QCOMPARE(overlap->rank, 2);
    QCOMPARE(overlap->step, 7 + 20 / 8 + 1);
    QVERIFY(overlap->cause.empty());
    QCOMPARE(check(verdict, "data.omission")->verdict, std::string("fail"));
}

void TestDataJudge::unequalSharesAreB4()
{
    // Rank 1 gives two of its samples to rank 0 in the second step.
    Listed listed(planFor(2, 64), true);
    for (auto& steps : listed.stepLists)
        steps[1][8] = steps[1][9] = 1;
    const DataVerdict verdict = listed.judge();
    const DataFinding* f = finding(verdict, "B4");
    QVERIFY2(f && !f->note, describe(verdict).constData());
    QCOMPARE(f->step, 1);
    QCOMPARE(f->rank, 0);
    QCOMPARE(check(verdict, "data.ragged")->verdict, std::string("fail"));
}

void TestDataJudge::oneEpochCannotShowSetEpoch()
{
    DataPlan plan = planFor(2);
    plan.epochs = 1;
    const DataVerdict verdict = judge(plan);
    QCOMPARE(check(verdict, "data.set_epoch")->verdict, std::string("cannot_judge"));
    QCOMPARE(verdict.verdict, std::string("cannot_judge"));
}

void TestDataJudge::contentOfASimulationIsNotClaimed()
{
    const DataVerdict verdict = judge(planFor(2));
    QCOMPARE(check(verdict, "data.content")->verdict, std::string("cannot_judge"));
    QCOMPARE(verdict.verdict, std::string("pass"));
}

void TestDataJudge::aScriptThatDrawsNothingMayShareItsStreams()
{
    DataPlan plan = planFor(2);
    plan.script = true;
    for (const bool used : {false, true}) {
        DataFacts facts;
        facts.world = 2;
        facts.datasetSize = plan.datasetSize;
        facts.draws = {{0, -1, 17}, {1, -1, 17}};
        facts.randomUsed = used;
        MemorySource source(facts, {simulateEpoch(plan, 0), simulateEpoch(plan, 1)});
        const DataVerdict verdict = *judgeData(source, plan);
        QCOMPARE(verdict.verdict, std::string(used ? "fail" : "pass"));
        QCOMPARE(check(verdict, "data.rank_streams")->cause, std::string("E6"));
        QVERIFY(finding(verdict, "E6") && finding(verdict, "E6")->note == !used);
    }
}

void TestDataJudge::aScriptsOwnSamplerIsNotHeldAgainstTorchs()
{
    RunConfig config;
    config.mode = "ddp";
    config.world = 2;
    config.batch = 16;
    config.workloadOptions = {{"script", "train_ddp.py"},
                              {"sampler", "SequentialSampler"},
                              {"batch_sampler", "Parts"},
                              {"dataset_length", "512"}};
    QCOMPARE(recordedLength(config), std::int64_t(512));
    const DataPlan plan = planOf(config, 512);
    QVERIFY(plan.script && !plan.samplerSeedKnown);
    QCOMPARE(plan.workers, 0);
    DataPlan theirs = plan; // every sample once, in an order that is not torch's
    theirs.samplerSeed = 77;
    DataFacts facts;
    facts.world = 2;
    facts.datasetSize = 512;
    MemorySource source(facts, {simulateEpoch(theirs, 0), simulateEpoch(theirs, 1)});
    const DataVerdict verdict = *judgeData(source, plan);
    QCOMPARE(verdict.verdict, std::string("pass"));
    QCOMPARE(check(verdict, "data.order")->verdict, std::string("cannot_judge"));
    config.workloadOptions.erase("batch_sampler");
    config.workloadOptions["sampler"] = "DistributedSampler";
    config.workloadOptions["dataset_length"] = "unknown";
    QVERIFY(planOf(config, 512).samplerSeedKnown);
    QCOMPARE(recordedLength(config), std::int64_t(-1));
}

void TestDataJudge::stopsOnRequest()
{
    const DataPlan plan = planFor(2);
    PlanSource source(plan);
    const Result<DataVerdict> verdict =
        judgeData(source, plan, [](std::int64_t done, std::int64_t) { return done < 2; });
    QVERIFY(!verdict.ok());
    QVERIFY(verdict.error().kind == ErrorKind::Cancelled);
}

void TestDataJudge::planSurvivesItsJson()
{
    DataPlan plan = planFor(8, 12345);
    plan.samplerSeed = ~std::uint64_t(0);
    plan.faults = {{"A3", {}}, {"F7", {{"step", "40"}}}};
    const Result<DataPlan> read = dataPlanFromJson(toJson(plan));
    QVERIFY(read.ok());
    QCOMPARE(*read, plan);
    QVERIFY(!dataPlanFromJson("{\"world\":\"two\"}").ok());
    QVERIFY(!dataPlanFromJson("[]").ok());
}

void TestDataJudge::impossiblePlansAreRefused()
{
    DataPlan plan = planFor(2);
    QVERIFY(validate(plan).ok());
    for (const int world : {0, -1, 1025}) {
        plan.world = world;
        QVERIFY(!validate(plan).ok());
    }
    for (const std::int64_t number :
         {std::int64_t(0), std::int64_t(1) << 32}) { // the product of two of the latter wraps
        plan = planFor(2);
        plan.batch = number;
        QVERIFY(!validate(plan).ok());
        plan = planFor(2);
        plan.accumulate = number;
        QVERIFY(!validate(plan).ok());
    }
    plan = planFor(2);
    plan.datasetSize = -1;
    QVERIFY(!validate(plan).ok());
}

QTEST_GUILESS_MAIN(TestDataJudge)
#include "tst_data_judge.moc"
