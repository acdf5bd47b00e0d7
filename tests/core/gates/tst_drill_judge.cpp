// Drills are judged by what their run recorded: here the records are made by hand, so that each part can be wrong.
#include "core/gates/drill_judge.h"

#include "core/store/run_writer.h"

#include <QTemporaryDir>
#include <QTest>

#include <functional>
#include <string>

using namespace lockstep;

namespace {

constexpr std::int64_t kMilli = 1'000'000;

const char* const kSilent =
    "Rank 2 was killed with SIGKILL in step 60. Another process did this. Look at dmesg.";

struct Case {
    DrillKind kind = DrillKind::Killed;
    int named = 2;
    std::string sentence = kSilent;
    std::int64_t goneMs = 500;
    std::string said = "Rank 2 ended without a word. Rank 0 noticed: Connection closed by peer.";
    DrillRemains remains = {{}, "step_00000040.pt", ""};
};

Drill drillOf(DrillKind kind)
{
    DrillSetup setup;
    setup.base.mode = "ddp";
    setup.base.world = 3;
    setup.timeout = 3;
    return planDrill(kind, setup, 2, 60, 1);
}

Result<DrillOutcome> judge(const Case& c)
{
    QTemporaryDir folder;
    {
        Result<RunWriter> writer = RunWriter::create(folder.path().toStdString());
        if (!writer)
            return writer.error();
        const auto event = [&](int rank, const char* kind, std::int64_t ms, const std::string& detail,
                               std::int64_t step = 60) {
            if (!writer->append(EventRecord{rank, step, kind, ms * kMilli, detail}))
                qFatal("no event");
        };
        if (!writer->beginSegment(0, 3, "start"))
            qFatal("no segment");
        event(0, "checkpoint", 10, R"({"path":"step_00000040.pt","bytes":1})", 40);
        event(-1, "drill", 1000, R"({"act":"kill","rank":2})");
        event(2, "exit", 1002, R"({"code":9,"signalled":true,"by_host":false})");
        for (int rank : {0, 1})
            event(rank, "noticed", 1010 + rank,
                  R"({"kind":"error","echo":true,"sentence":")" + c.said + "\"}");
        for (int rank : {0, 1})
            event(rank, "exit", 1000 + c.goneMs, R"({"code":9,"signalled":true,"by_host":true})");
        event(-1, "verdict", 1001 + c.goneMs, R"({"rank":2,"step":60,"sentence":"x"})");
        if (!writer->finish())
            qFatal("no finish");
    }
    Result<RunReader> reader = RunReader::open(folder.path().toStdString());
    if (!reader)
        return reader.error();
    RunInfo run;
    run.id = "drill-01";
    run.state = RunState::Failed;
    run.firstFailure = {c.named, 60, c.sentence};
    return judgeDrill(drillOf(c.kind), run, *reader, c.remains);
}

std::string failing(const DrillOutcome& outcome)
{
    std::string ids;
    for (const GateCheck& check : outcome.checks)
        if (check.verdict != "pass")
            ids += check.id + " ";
    return ids;
}

} // namespace

class TestDrillJudge : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aKilledRankThatIsNamedInTimeHolds()
    {
        const Result<DrillOutcome> outcome = judge({});
        QVERIFY(outcome.ok());
        QCOMPARE(failing(*outcome), std::string());
        QVERIFY(outcome->holds);
        QCOMPARE(outcome->goneAfter, 0.5);
        QCOMPARE(outcome->firstNotice, 0.01);
        QCOMPARE(outcome->survivors, 2);
        QCOMPARE(outcome->survivorsNaming, 2);
        QCOMPARE(outcome->lostSteps, 20);
        QCOMPARE(outcome->timeline.front().kind, std::string("breaks"));
        QCOMPARE(outcome->timeline.front().seconds, 0.0);
        QCOMPARE(outcome->timeline.back().kind, std::string("verdict"));
        for (std::size_t i = 1; i < outcome->timeline.size(); ++i)
            QVERIFY(outcome->timeline[i - 1].seconds <= outcome->timeline[i].seconds);
    }

    void eachPartCanFail_data()
    {
        QTest::addColumn<std::function<void(Case&)>>("change");
        QTest::addColumn<QByteArray>("failing");
        const auto row = [](const char* name, std::function<void(Case&)> change, const char* ids) {
            QTest::newRow(name) << change << QByteArray(ids);
        };
        row(
            "a neighbour is blamed", [](Case& c) { c.named = 0; }, "named ");
        row(
            "an echo is taken for the cause",
            [](Case& c) { c.sentence = "Rank 2 failed. Connection reset by peer."; }, "named ");
        row(
            "too late", [](Case& c) { c.goneMs = 2100; }, "gone ");
        row(
            "survivors do not know who it was",
            [](Case& c) { c.said = "Rank 1 failed in training. Connection reset by peer."; }, "survivors ");
        row(
            "a process is left", [](Case& c) { c.remains.processes = {4711}; }, "left ");
        row(
            "no checkpoint", [](Case& c) { c.remains.checkpoint.clear(); }, "checkpoint ");
        row(
            "a torn checkpoint", [](Case& c) { c.remains.checkpointFault = "Record 3 is cut off."; },
            "checkpoint ");
    }
    void eachPartCanFail()
    {
        QFETCH(std::function<void(Case&)>, change);
        QFETCH(QByteArray, failing);
        Case c;
        change(c);
        const Result<DrillOutcome> outcome = judge(c);
        QVERIFY(outcome.ok());
        QCOMPARE(::failing(*outcome), failing.toStdString());
        QVERIFY(!outcome->holds);
    }

    void aHangHasTheTimeoutAndASecond()
    {
        Case c;
        c.kind = DrillKind::HangsInForward;
        c.sentence = "Rank 2 stopped answering in step 60. Rank 0 waited for it in vain.";
        c.goneMs = 3900;
        Result<DrillOutcome> outcome = judge(c);
        QVERIFY(outcome.ok());
        QVERIFY2(outcome->holds, failing(*outcome).c_str());
        QCOMPARE(outcome->limit, 4.0);
        c.goneMs = 4100;
        outcome = judge(c);
        QCOMPARE(failing(*outcome), std::string("gone "));
    }

    void theSameNumbersDrawTheSameDrill()
    {
        DrillSetup setup;
        setup.base.world = 4;
        for (const DrillInfo& info : allDrills()) {
            const Drill a = planDrill(info.kind, setup, -1, 0, 77);
            const Drill b = planDrill(info.kind, setup, -1, 0, 77);
            QCOMPARE(a.rank, b.rank);
            QCOMPARE(a.step, b.step);
            QVERIFY(a.rank >= 0 && a.rank < 4);
            QVERIFY(a.step > 2 * setup.checkpointEvery); // two checkpoints are there by then
            QVERIFY(validate(a.config).ok());
            QCOMPARE(*drillByWord(info.word), info.kind);
        }
        QVERIFY(!drillByWord("explode").ok());
    }
};

QTEST_GUILESS_MAIN(TestDrillJudge)
#include "tst_drill_judge.moc"
