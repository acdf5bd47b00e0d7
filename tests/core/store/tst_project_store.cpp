#include "core/store/project_store.h"

#include "core/store/run_writer.h"

#include <QtTest>

#include <cmath>
#include <filesystem>
#include <limits>

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

ProjectStore makeProject(const QTemporaryDir& dir)
{
    return std::move(ProjectStore::create(dir.path().toStdString() + "/demo", "toy-mlp")).value();
}

RunInfo named(const std::string& name)
{
    RunInfo run;
    run.name = name;
    return run;
}

} // namespace

class TestProjectStore : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void aProjectKnowsItself()
    {
        QTemporaryDir dir;
        ProjectStore project = makeProject(dir);
        QCOMPARE(project.info().name, std::string("demo"));
        QCOMPARE(project.info().workload, std::string("toy-mlp"));
        QCOMPARE(project.info().schema, 1);
        QVERIFY(project.info().createdUnixMs > 1'600'000'000'000);
        const Result<ProjectStore> twice = ProjectStore::create(project.info().folder, "toy-mlp");
        QVERIFY(!twice.ok());
        QVERIFY(twice.error().kind == ErrorKind::Input);
    }

    void runsGetFoldersWithReadableNames()
    {
        QTemporaryDir dir;
        ProjectStore project = makeProject(dir);
        QCOMPARE(project.addRun(named("ddp-w2"))->id, std::string("ddp-w2-01"));
        QCOMPARE(project.addRun(named("ddp-w2"))->id, std::string("ddp-w2-02"));
        QCOMPARE(project.addRun(named("../Übung 1/.."))->id, std::string("bung-1-..-01"));
        QCOMPARE(project.addRun(named("..."))->id, std::string("run-01"));
        QCOMPARE(project.addRun(named(""))->id, std::string("run-02"));
        const std::vector<RunInfo> runs = *project.runs();
        for (const RunInfo& run : runs)
            QVERIFY(fs::is_directory(run.folder));
        QCOMPARE(runs.front().id, std::string("run-02"));
        QCOMPARE(project.run("ddp-w2")->id, std::string("ddp-w2-02")); // the newest of that name
        QCOMPARE(project.run("ddp-w2-01")->id, std::string("ddp-w2-01"));
        QVERIFY(project.run("nope").error().kind == ErrorKind::NotFound);
    }

    void everyFieldOfARunComesBack()
    {
        QTemporaryDir dir;
        ProjectStore project = makeProject(dir);
        RunInfo run = *project.addRun(named("a"));
        run.configJson = R"({"mode":"ddp"})";
        run.environmentJson = R"({"torch":"2.15.0"})";
        run.state = RunState::Failed;
        run.startedUnixMs = 5;
        run.endedUnixMs = 6;
        run.lastStep = 77;
        run.lastLoss = std::numeric_limits<double>::quiet_NaN();
        run.exitCodes = {0, 137, 1};
        run.firstFailure = {1, 76, "Rank 1 was killed."};
        QVERIFY(project.updateRun(run).ok());
        const RunInfo back = *project.run("a");
        QCOMPARE(back.configJson, run.configJson);
        QCOMPARE(back.environmentJson, run.environmentJson);
        QVERIFY(back.state == RunState::Failed);
        QCOMPARE(back.startedUnixMs, run.startedUnixMs);
        QCOMPARE(back.endedUnixMs, run.endedUnixMs);
        QCOMPARE(back.lastStep, run.lastStep);
        QVERIFY(std::isnan(back.lastLoss));
        QCOMPARE(back.exitCodes, run.exitCodes);
        QCOMPARE(back.firstFailure.rank, 1);
        QCOMPARE(back.firstFailure.step, std::int64_t(76));
        QCOMPARE(back.firstFailure.sentence, run.firstFailure.sentence);
        for (const std::string& id : {std::string("other"), run.name}) {
            run.id = id;
            QVERIFY(project.updateRun(run).error().kind == ErrorKind::NotFound);
        }
    }

    void aRunningRunNeedsALivingWriter()
    {
        QTemporaryDir dir;
        ProjectStore project = makeProject(dir);
        RunInfo run = *project.addRun(named("a"));
        QVERIFY(project.run("a")->state == RunState::Running); // just entered
        {
            RunWriter writer = std::move(RunWriter::create(run.folder)).value();
            QVERIFY(project.run("a")->state == RunState::Running);
            QVERIFY(project.removeRun(run.id).error().kind == ErrorKind::Busy);
        }
        QVERIFY(project.run("a")->state == RunState::Interrupted);
        // Entered long ago and never begun.
        RunInfo old = named("b");
        old.startedUnixMs = 1000;
        project.addRun(old).value();
        QVERIFY(project.run("b")->state == RunState::Interrupted);
    }

    void removedRunsCanComeBack()
    {
        QTemporaryDir dir;
        ProjectStore project = makeProject(dir);
        RunInfo run = *project.addRun(named("a"));
        run.state = RunState::Finished;
        QVERIFY(project.updateRun(run).ok());
        QVERIFY(project.removeRun(run.id).ok());
        QVERIFY(project.runs()->empty());
        QVERIFY(!fs::exists(run.folder));
        QVERIFY(fs::exists(project.info().folder + "/runs/.trash/" + run.id));
        QVERIFY(project.removeRun(run.id).error().kind == ErrorKind::NotFound);
        QCOMPARE(project.addRun(named("a"))->id,
                 std::string("a-02")); // the name of a removed run is not used again
        QVERIFY(project.restoreRun(run.id).ok());
        QVERIFY(fs::exists(run.folder));
        QCOMPARE(project.runs()->size(), std::size_t(2));
    }

    void gatesKeepTheirChecksAndOverrides()
    {
        QTemporaryDir dir;
        ProjectStore project = makeProject(dir);
        GateInfo gate;
        gate.phase = "data";
        gate.verdict = "fail";
        gate.judgedUnixMs = 9;
        gate.configJson = "{}";
        gate.checks = {{"data.overlap", "fail", "2 of 148", "0", 3, 1, "p", "s", "f", "A1", "[1]"}, {}};
        QVERIFY(project.saveGate(gate).ok());
        QVERIFY(project.overrideGate("data", "known").ok());
        QVERIFY(project.overrideGate("drills", "later").ok());
        gate.verdict = "pass";
        gate.checks.resize(1);
        QVERIFY(project.saveGate(gate).ok());
        const std::vector<GateInfo> gates = *project.gates();
        QCOMPARE(gates.size(), std::size_t(2));
        QCOMPARE(gates[0].phase, std::string("data"));
        QCOMPARE(gates[0].verdict, std::string("pass"));
        QCOMPARE(gates[0].overrideReason, std::string("known"));
        QVERIFY(gates[0].overriddenUnixMs > 0);
        QCOMPARE(gates[0].checks.size(), std::size_t(1));
        const GateCheck& check = gates[0].checks[0];
        QCOMPARE(check.id, std::string("data.overlap"));
        QCOMPARE(check.value, std::string("2 of 148"));
        QCOMPARE(check.limit, std::string("0"));
        QCOMPARE(check.step, std::int64_t(3));
        QCOMPARE(check.rank, 1);
        QCOMPARE(check.cause, std::string("A1"));
        QCOMPARE(check.evidenceJson, std::string("[1]"));
        QCOMPARE(gates[1].verdict, std::string("cannot_judge"));
        QVERIFY(gates[1].checks.empty());
        QVERIFY(project.overrideGate("data", "").ok());
        QVERIFY(project.gates()->front().overrideReason.empty());
    }

    void checkpointsAndFindingsComeBack()
    {
        QTemporaryDir dir;
        ProjectStore project = makeProject(dir);
        QVERIFY(project.addCheckpoint({"/a.pt", "", 5, 100}).ok());
        QVERIFY(project.addCheckpoint({"/a.pt", "run-01", 6, 101}).ok());
        QCOMPARE(project.checkpoints()->size(), std::size_t(1));
        QCOMPARE(project.checkpoints()->front().step, std::int64_t(6));
        FindingRow finding;
        finding.runA = "a";
        finding.runB = "b";
        finding.cause = "B6";
        finding.confidence = "proven";
        finding.rank = 2;
        finding.step = 41;
        QVERIFY(project.saveFindings("a", "b", {finding, finding}).ok());
        QVERIFY(project.saveFindings("a", "b", {finding}).ok());
        QVERIFY(project.saveFindings("a", "c", {finding}).ok());
        QCOMPARE(project.findings()->size(), std::size_t(2));
        QCOMPARE(project.findings()->front().cause, std::string("B6"));
        QCOMPARE(project.findings()->back().runB, std::string("c"));
    }

    void otherProcessesChangesAreNoticed()
    {
        QTemporaryDir dir;
        ProjectStore project = makeProject(dir);
        ProjectStore other = std::move(ProjectStore::open(project.info().folder)).value();
        const std::int64_t before = project.dataVersion();
        QVERIFY(other.addRun(named("a")).ok());
        QVERIFY(project.dataVersion() != before);
        QCOMPARE(project.runs()->size(), std::size_t(1));
    }
};

QTEST_GUILESS_MAIN(TestProjectStore)
#include "tst_project_store.moc"
