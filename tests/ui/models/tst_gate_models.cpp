// What the pages of the gates are made of: titles of checks, keys of the preflight, runs of the gradients gate.
#include "core/gates/gradients_plan.h"
#include "core/gates/preflight.h"
#include "ui/models/check_titles.h"
#include "ui/models/checks_model.h"
#include "ui/models/deciding_check.h"
#include "ui/models/gate_runs.h"
#include "ui/models/phases.h"
#include "ui/models/preflight_keys_model.h"

#include <QAbstractItemModelTester>
#include <QTest>

using namespace lockstep;

namespace {

using Tester = QAbstractItemModelTester;
constexpr auto kQtTest = Tester::FailureReportingMode::QtTest;

GateInfo judged(const std::function<void(RunConfig&)>& change)
{
    PreflightInput input;
    input.ddp.mode = "ddp";
    input.ddp.world = 4;
    input.ddp.batch = 8;
    input.single = alignedSingle(input.ddp);
    change(input.ddp);
    input.singleName = "single-01";
    input.ddpName = "ddp-w4-01";
    const Result<EnvironmentReport> environment =
        EnvironmentReport::fromJson(R"({"torch":"2.15.0","threads":1,"deterministic":true})");
    input.singleEnvironment = input.ddpEnvironment = *environment;
    input.machine.loopback = true;
    input.machine.cores = 4;
    return judgePreflight(input);
}

int rowOf(const QAbstractItemModel& model, const QString& key)
{
    for (int row = 0; row < model.rowCount(); ++row)
        if (model.index(row, PreflightKeysModel::Key).data().toString() == key)
            return row;
    return -1;
}

RunEntry run(const GradientsRun& planned, std::int64_t startedMs, RunState state)
{
    RunEntry entry;
    entry.config = planned.config;
    entry.info.name = planned.config.name;
    entry.info.id = planned.config.name + "-01";
    entry.info.startedUnixMs = startedMs;
    entry.info.endedUnixMs = state == RunState::Running ? 0 : startedMs + 1000;
    entry.info.lastStep = state == RunState::Finished ? planned.config.steps : 10;
    entry.info.state = state;
    return entry;
}

} // namespace

class GateModelsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyCheckOfThePreflightHasAShortTitle()
    {
        const GateInfo gate = judged([](RunConfig&) {});
        QVERIFY(gate.checks.size() > 10);
        for (const GateCheck& check : gate.checks) {
            const QString title = checkTitle(check.id);
            QVERIFY2(!title.isEmpty() && title.size() < 40, check.id.c_str());
        }
        QCOMPARE(checkTitle("preflight.MKL_CBWR"), QStringLiteral("MKL_CBWR"));
        QVERIFY(checkTitle("something.else").isEmpty());
    }

    void aPassedGateShowsTheNumberItIsAbout()
    {
        GateInfo gate;
        gate.phase = "gradients";
        gate.verdict = "pass";
        gate.judgedUnixMs = 1;
        for (const auto& [id, value] : {std::pair("gradients.forced_off", "nothing to switch off"),
                                        std::pair("gradients.twin", "0 bits differ in 40 steps")}) {
            GateCheck& check = gate.checks.emplace_back();
            check.id = id;
            check.verdict = "pass";
            check.value = value;
            check.sentence = "A sentence without a number.";
        }
        gate.checks.emplace_back().verdict = "cannot_judge"; // passed in spite of it
        QCOMPARE(decidingCheck(gate), std::size_t(1));
        QVERIFY(decidingText(gate.checks[1]).endsWith(QStringLiteral("0 bits differ in 40 steps")));
        // Of a script there is no twin: the envelope is what its gate is about.
        gate.checks[1].verdict = "cannot_judge";
        gate.checks.push_back(gate.checks[0]);
        gate.checks.back().id = "gradients.loss";
        gate.checks.back().verdict = "pass";
        QCOMPARE(decidingCheck(gate), gate.checks.size() - 1);
        // Of the drills the one nearest its limit; a check without a number as its limit is none of them.
        gate.phase = "drills";
        gate.checks.clear();
        for (const auto& [value, limit] : {std::pair("30 s", "from numbers"), std::pair("0.05 s", "2 s"),
                                           std::pair("9.1 s", "11 s"), std::pair("3 s", "12 s")}) {
            GateCheck& check = gate.checks.emplace_back();
            check.verdict = "pass";
            check.value = value;
            check.limit = limit;
        }
        QCOMPARE(decidingCheck(gate), std::size_t(2));
    }

    void aFailedCheckDecidesBeforeOneThatCouldNotBeJudged()
    {
        GateInfo gate;
        for (const char* verdict : {"pass", "cannot_judge", "fail", "pass"}) {
            gate.checks.emplace_back().verdict = verdict;
            gate.checks.back().sentence = verdict;
        }
        gate.phase = "preflight";
        gate.verdict = "fail";
        gate.judgedUnixMs = 1;
        QCOMPARE(decidingCheck(gate), std::size_t(2));
        ProjectSnapshot snapshot;
        snapshot.gates.push_back(gate);
        const PhaseStatus status = phaseStatuses(snapshot, true).front();
        QCOMPARE(status.deciding, QStringLiteral("fail"));
        QCOMPARE(status.detail, QStringLiteral("1 of 4 checks fail")); // what was not judged did not fail
    }

    void aCheckWithoutATitleShowsItsSentence()
    {
        ChecksModel model;
        Tester tester(&model, kQtTest);
        GateCheck known, other;
        known.id = "data.overlap";
        known.sentence = "No id is on two ranks.";
        other.id = "custom";
        other.sentence = "A sentence.";
        model.setChecks({known, other});
        QCOMPARE(model.index(0, ChecksModel::Check).data().toString(),
                 QStringLiteral("no sample on two ranks"));
        QVERIFY(model.index(0, ChecksModel::Check).data(Qt::ToolTipRole).toString().contains("No id is"));
        QCOMPARE(model.index(1, ChecksModel::Check).data().toString(), QStringLiteral("A sentence."));
    }

    void aKeyHasTheVerdictOfTheCheckThatJudgesIt()
    {
        PreflightKeysModel model;
        Tester tester(&model, kQtTest);
        const GateInfo gate = judged([](RunConfig& ddp) {
            ddp.lr = 4e-3;
            ddp.bucketMb = 5;
        });
        model.setGate(&gate);
        QVERIFY(model.error().isEmpty());
        const int lr = rowOf(model, QStringLiteral("lr"));
        QCOMPARE(lr, 0); // what fails is read first
        QCOMPARE(model.index(lr, PreflightKeysModel::Verdict).data().toString(), QStringLiteral("fails"));
        QCOMPARE(model.index(lr, 0).data(IdRole).toString(), QStringLiteral("preflight.lr"));
        QVERIFY(
            model.index(lr, PreflightKeysModel::Why).data().toString().contains(QStringLiteral("4 times")));
        const int world = rowOf(model, QStringLiteral("world"));
        QCOMPARE(model.index(world, PreflightKeysModel::Verdict).data().toString(), QStringLiteral("holds"));
        const int bucket = rowOf(model, QStringLiteral("bucket_mb"));
        QCOMPARE(model.index(bucket, PreflightKeysModel::Verdict).data().toString(),
                 QStringLiteral("needs none"));
        QCOMPARE(rowOf(model, QStringLiteral("name")), -1);
        QVERIFY(model.summary().contains(QStringLiteral("%1 differ").arg(model.rowCount())));
        model.setGate(nullptr);
        QCOMPARE(model.rowCount(), 0);
        GateInfo damaged;
        damaged.configJson = "{\"single\":";
        model.setGate(&damaged);
        QVERIFY(!model.error().isEmpty());
    }

    void theRunsOfTheNewestJudgementAreShown()
    {
        GradientsRequest request;
        request.world = 4;
        request.steps = 20;
        const std::vector<GradientsRun> plan = gradientsPlan(request);
        ProjectSnapshot snapshot;
        QVERIFY(gradientsGateRuns(snapshot).cells.empty());
        // An earlier judgement was complete; the new one has trained two runs and is at its third.
        for (std::size_t i = 0; i < plan.size(); ++i)
            snapshot.runs.insert(snapshot.runs.begin(), run(plan[i], std::int64_t(i), RunState::Finished));
        for (std::size_t i = 0; i < 3; ++i)
            snapshot.runs.insert(snapshot.runs.begin(), run(plan[i], 1000 + std::int64_t(i),
                                                            i < 2 ? RunState::Finished : RunState::Running));
        const GateRuns runs = gradientsGateRuns(snapshot);
        QCOMPARE(runs.cells.size(), std::size_t(6));
        QCOMPARE(runs.cells[0].state, State::Holds);
        QCOMPARE(runs.cells[1].state, State::Holds);
        QCOMPARE(runs.cells[2].state, State::Running);
        QCOMPARE(runs.cells[2].detail, QStringLiteral("10 of 20"));
        QCOMPARE(runs.cells[2].progress, 0.5);
        QCOMPARE(runs.cells[5].state, State::Waiting);
        QVERIFY(runs.twin.isEmpty());
        QCOMPARE(runs.ddp, QStringLiteral("gate-ddp-w4-01"));
    }
};

QTEST_GUILESS_MAIN(GateModelsTest)
#include "tst_gate_models.moc"
