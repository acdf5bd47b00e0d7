// The coverage picture as data, held against a sweep with plain loops.
#include "ui/models/data_coverage.h"
#include "ui/models/data_epochs_model.h"

#include <QAbstractItemModelTester>
#include <QTest>

#include <map>

using namespace lockstep;

namespace {

CoverageDataPtr dataFor(std::int64_t size, int world, const char* fault = nullptr)
{
    DataPlan plan;
    plan.datasetSize = size;
    plan.world = world;
    plan.batch = 8;
    if (fault)
        plan.faults.push_back({fault, {}});
    return loadCoverage({}, toJson(plan));
}

} // namespace

class TestDataCoverage : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyIdIsFoundWhereItWasDealt();
    void columnsHoldTheirSmallestId();
    void manyRanksShareRows();
    void omittedAndRepeatedIdsShow();
    void aRepeatedOrderIsADiagonal();
    void whatIfEqualsTheSimulation();
    void unreadablePlansSayWhy();
    void epochsModelFollowsTheRules();
};

void TestDataCoverage::everyIdIsFoundWhereItWasDealt()
{
    for (const char* fault : {"", "A4"}) {
        const CoverageDataPtr data = dataFor(301, 4, *fault ? fault : nullptr);
        QVERIFY2(data->error.isEmpty(), qPrintable(data->error));
        const CoverageImage image = aggregateCoverage(*data, {0, 301, 301});
        QCOMPARE(image.epochs.size(), std::size_t(3));
        for (std::size_t e = 0; e < 3; ++e) {
            std::map<std::pair<int, std::uint32_t>, std::uint32_t> uses; // rank, id -> a position
            const EpochOrder& order = data->orders[e];
            for (std::size_t r = 0; r < 4; ++r)
                for (std::size_t p = 0; p < order.ranks[r].count; ++p)
                    uses.try_emplace({int(r), order.ranks[r][p]}, std::uint32_t(p));
            for (int row = 0; row < 4; ++row)
                for (std::uint32_t id = 0; id < 301; ++id) {
                    const CoverageCell& cell = image.epochs[e].cells[std::size_t(row) * 301 + id];
                    const auto it = uses.find({row, id});
                    QCOMPARE(cell.id != CoverageCell::kNone, it != uses.end());
                    if (it != uses.end()) {
                        QCOMPARE(cell.id, id);
                        QCOMPARE(cell.position, it->second);
                    }
                }
        }
    }
}

void TestDataCoverage::columnsHoldTheirSmallestId()
{
    const CoverageDataPtr data = dataFor(1000, 2);
    const CoverageImage image = aggregateCoverage(*data, {100, 900, 50});
    const CoverageEpoch& epoch = image.epochs.front();
    for (int c = 0; c < 50; ++c) {
        std::uint32_t smallest = CoverageCell::kNone;
        for (int row = 0; row < 2; ++row)
            smallest = std::min(smallest, epoch.cells[std::size_t(row * 50 + c)].id);
        QCOMPARE(smallest, std::uint32_t(100 + c * 16));
        QCOMPARE(int(epoch.seen[std::size_t(c)]), 2);
    }
}

void TestDataCoverage::manyRanksShareRows()
{
    const CoverageDataPtr data = dataFor(5000, 200);
    const CoverageImage image = aggregateCoverage(*data, {0, 5000, 100});
    QCOMPARE(image.epochs.front().ranksPerRow, 4);
    QCOMPARE(image.epochs.front().rows, 50);
    QVERIFY(aggregateCoverage(*data, {10, 10, 5}).epochs.empty());
}

void TestDataCoverage::omittedAndRepeatedIdsShow()
{
    const CoverageDataPtr data = dataFor(400, 4, "A4");
    const CoverageImage image = aggregateCoverage(*data, {0, 400, 400});
    for (const std::uint32_t id : data->omissions.front())
        QCOMPARE(int(image.epochs.front().seen[id]), 0);
    QVERIFY(!data->omissions.front().empty());
    QVERIFY(!data->overlaps.front().empty());
}

void TestDataCoverage::aRepeatedOrderIsADiagonal()
{
    const CoverageDataPtr fault = dataFor(500, 2, "A3");
    QCOMPARE(fault->againstFirst[1].size(), std::size_t(300));
    for (const auto& [x, y] : fault->againstFirst[1])
        QCOMPARE(x, y);
    QVERIFY(fault->epochs[1].sameOrder);
    int off = 0;
    for (const auto& [x, y] : dataFor(500, 2)->againstFirst[1])
        off += x != y;
    QVERIFY(off > 250);
}

void TestDataCoverage::whatIfEqualsTheSimulation()
{
    for (const std::int64_t size : {0, 1, 7, 202, 1000})
        for (const int world : {1, 2, 3, 8})
            for (const bool dropLast : {false, true}) {
                DataPlan plan;
                plan.datasetSize = size;
                plan.world = world;
                plan.batch = 8;
                plan.accumulate = 2;
                plan.dropLast = dropLast;
                const WhatIf answer = whatIf(plan);
                PlanSource source(plan);
                const DataVerdict verdict = *judgeData(source, plan);
                QCOMPARE(answer.steps, verdict.epochs.front().steps);
                QCOMPARE(answer.padding, verdict.epochs.front().padding);
                QCOMPARE(answer.omitted, verdict.epochs.front().omitted);
                QCOMPARE(answer.globalBatch, std::int64_t(8) * world * 2);
            }
}

void TestDataCoverage::unreadablePlansSayWhy()
{
    QVERIFY(!loadCoverage({}, "nonsense")->error.isEmpty());
    QVERIFY(!loadCoverage({}, "{\"world\":0}")->error.isEmpty());
    QVERIFY(!loadCoverage("/nowhere", "{\"source\":\"run:x\",\"world\":2}")->error.isEmpty());
    QVERIFY(!loadCoverage({}, "{\"source\":\"ids:/nowhere.csv\",\"world\":2}")->error.isEmpty());
}

void TestDataCoverage::epochsModelFollowsTheRules()
{
    DataEpochsModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const CoverageDataPtr data = dataFor(203, 4, "A3");
    model.setEpochs(data->epochs, data->datasetSize);
    QCOMPARE(model.rowCount(), 3);
    QCOMPARE(model.index(0, DataEpochsModel::Order).data().toString(), QStringLiteral("first order"));
    QCOMPARE(model.index(2, DataEpochsModel::Order).data().toString(), QStringLiteral("same order"));
    QCOMPARE(model.index(1, DataEpochsModel::Seen).data().toString(), QStringLiteral("203 of 203"));
    QCOMPARE(model.index(1, DataEpochsModel::Steps).data().toString(), QStringLiteral("8 to 14"));
    model.setEpochs({}, 0);
    QCOMPARE(model.rowCount(), 0);
}

QTEST_GUILESS_MAIN(TestDataCoverage)
#include "tst_data_coverage.moc"
