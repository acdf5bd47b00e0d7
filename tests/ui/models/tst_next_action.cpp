// "What now?" for every situation a project can be in.
#include "ui/models/next_action.h"

#include <QTest>

using namespace lockstep;

namespace {

RunEntry run(const std::string& id, const std::string& mode, RunState state = RunState::Finished)
{
    RunEntry entry;
    entry.info.id = id;
    entry.info.state = state;
    entry.info.lastStep = 30;
    entry.info.startedUnixMs = 1;
    entry.config = starterConfig("toy-mlp", mode);
    return entry;
}

using Command = NextAction::Command;

} // namespace

class NextActionTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void anEmptyProjectOffersBothRunsAtOnce()
    {
        const NextAction next = nextAction({}, {});
        QCOMPARE(next.primary.command, Command::StartPair);
        QVERIFY(next.title.contains(QStringLiteral("toy-mlp")));
    }

    void anEmptyProjectAlsoTakesAScript()
    {
        QCOMPARE(nextAction({}, {}).other.command, Command::UseScript);
        ProjectSnapshot project;
        project.runs = {run("a", "single")};
        QCOMPARE(nextAction(project, {}).other.command, Command::None);
    }

    // Nothing is trained because logs were imported, and they are nobody's baseline but each other's.
    void importedLogsAreToBeCompared()
    {
        ProjectSnapshot project;
        project.runs = {run("ddp-01", "imported"), run("single-01", "imported")};
        QCOMPARE(nextAction(project, {}).primary.command, Command::OpenRuns);
        QCOMPARE(referenceRun(project, project.runs[0]), QStringLiteral("single-01"));
        project.runs.insert(project.runs.begin(), run("single-02", "single"));
        QCOMPARE(nextAction(project, {}).primary.mode, QStringLiteral("ddp"));
        QCOMPARE(referenceRun(project, project.runs[0]), QString());
    }

    void theOtherHalfOfAScriptIsItsOwnersToSay()
    {
        ProjectSnapshot project;
        project.runs = {run("train-01", "single")};
        project.runs[0].command = ScriptCommand{{"python", "train.py"}, {}, "/w"};
        QCOMPARE(nextAction(project, {}).primary.command, Command::UseScript);
        // Scripts of one folder belong together, whatever they are called.
        RunEntry ddp = run("train_ddp-01", "ddp");
        ddp.config.workload = "train_ddp";
        ddp.command = ScriptCommand{{"torchrun", "train_ddp.py"}, {}, "/w"};
        project.runs.insert(project.runs.begin(), ddp);
        QCOMPARE(referenceRun(project, project.runs[0]), QStringLiteral("train-01"));
        // A repeat with other threads measures an envelope and is no reference.
        RunEntry repeat = run("train-02", "single");
        repeat.command = ScriptCommand{{"python", "train.py"}, {}, "/w"};
        repeat.command->threads = 3;
        project.runs.insert(project.runs.begin() + 1, repeat);
        QCOMPARE(referenceRun(project, project.runs[0]), QStringLiteral("train-01"));
        project.runs[0].command->folder = "/elsewhere";
        QCOMPARE(referenceRun(project, project.runs[0]), QString());
    }

    void aRunningRunComesFirst()
    {
        ProjectSnapshot project;
        project.runs = {run("b", "ddp", RunState::Failed), run("a", "single", RunState::Running)};
        project.runs[1].config.steps = 120;
        const NextAction next = nextAction(project, {});
        QCOMPARE(next.state, State::Running);
        QCOMPARE(next.progress, 0.25);
        QCOMPARE(next.secondary.command, Command::StopRun);
        QCOMPARE(next.secondary.target, QStringLiteral("a"));
    }

    void aFailureNamesRankStepAndReason()
    {
        ProjectSnapshot project;
        project.runs = {run("ddp-01", "ddp", RunState::Failed)};
        project.runs[0].info.firstFailure = {1, 17, "Rank 1 was killed by signal 9."};
        const NextAction next = nextAction(project, {});
        QCOMPARE(next.title, QStringLiteral("ddp-01 failed on rank 1 at step 17"));
        QCOMPARE(next.sentence, QStringLiteral("Rank 1 was killed by signal 9."));
        QCOMPARE(next.primary.command, Command::Rerun);
    }

    void theMissingHalfIsOffered_data()
    {
        QTest::addColumn<QString>("have");
        QTest::addColumn<QString>("offered");
        QTest::newRow("baseline-only") << "single"
                                       << "ddp";
        QTest::newRow("ddp-only") << "ddp"
                                  << "single";
    }
    void theMissingHalfIsOffered()
    {
        QFETCH(QString, have);
        QFETCH(QString, offered);
        ProjectSnapshot project;
        project.runs = {run("x", have.toStdString())};
        const NextAction next = nextAction(project, {});
        QCOMPARE(next.primary.command, Command::StartRun);
        QCOMPARE(next.primary.mode, offered);
    }

    void aDivergenceIsNamedWithItsStep()
    {
        ProjectSnapshot project;
        project.runs = {run("ddp-01", "ddp"), run("single-01", "single")};
        RunVerdict verdict;
        verdict.state = State::Diverged;
        verdict.against = QStringLiteral("single-01");
        verdict.firstStep = 41;
        const NextAction next = nextAction(project, {{QStringLiteral("ddp-01"), verdict}});
        QCOMPARE(next.title, QStringLiteral("ddp-01 parts from single-01 at step 41"));
        QCOMPARE(next.primary.command, Command::OpenCurves);
    }

    void thenTheNextOpenGate()
    {
        ProjectSnapshot project;
        project.runs = {run("ddp-01", "ddp"), run("single-01", "single")};
        GateInfo preflight;
        preflight.phase = "preflight";
        preflight.verdict = "pass";
        project.gates = {preflight};
        const NextAction next = nextAction(project, {});
        QCOMPARE(next.primary.command, Command::OpenPhase);
        QCOMPARE(next.primary.target, QStringLiteral("data"));
    }

    void aGateThatCannotBeJudgedIsDecidedNotJudgedAgain()
    {
        ProjectSnapshot project;
        project.runs = {run("ddp-01", "ddp"), run("single-01", "single")};
        for (RunEntry& entry : project.runs)
            entry.command = ScriptCommand{{"python", "train.py"}, {}, "/w"};
        for (const char* phase : {"preflight", "data"}) {
            GateInfo gate;
            gate.phase = phase;
            gate.verdict = "pass";
            project.gates.push_back(gate);
        }
        NextAction next = nextAction(project, {});
        QCOMPARE(next.primary.target, QStringLiteral("gradients"));
        QVERIFY2(next.sentence.contains(QStringLiteral("Nothing is started")), qPrintable(next.sentence));
        GateInfo gradients;
        gradients.phase = "gradients";
        gradients.verdict = "cannot_judge";
        GateCheck check;
        check.id = "gradients.loss";
        check.verdict = "cannot_judge";
        check.sentence = "There is one run.";
        gradients.checks = {check};
        project.gates.push_back(gradients);
        next = nextAction(project, {});
        QCOMPARE(next.primary.target, QStringLiteral("gradients"));
        QVERIFY2(next.title.startsWith(QStringLiteral("Decide on ")), qPrintable(next.title));
        QVERIFY2(next.sentence.startsWith(QStringLiteral("There is one run.")), qPrintable(next.sentence));
    }

    void theReferenceIsTheStrictestOneThereIs()
    {
        ProjectSnapshot project;
        RunEntry faulty = run("ddp-02", "ddp");
        faulty.config.faults.push_back({"B2", {}});
        project.runs = {faulty, run("ddp-01", "ddp"), run("single-01", "single")};
        QCOMPARE(referenceRun(project, faulty), QStringLiteral("ddp-01"));
        QCOMPARE(referenceRun(project, project.runs[1]), QStringLiteral("single-01"));
        QCOMPARE(referenceRun(project, project.runs[2]), QString());

        RunEntry twin = run("twin-01", "ddp");
        twin.config.mode = "twin";
        project.runs.push_back(twin);
        QCOMPARE(referenceRun(project, faulty), QStringLiteral("twin-01"));
    }

    void runsOfGatesAndDrillsDoNotSpeakForTheProject()
    {
        ProjectSnapshot project;
        RunEntry drill = run("drill-kill-01", "ddp", RunState::Failed);
        drill.info.name = "drill-kill";
        RunEntry repeat = run("gate-repeat-1-01", "single");
        repeat.info.name = "gate-repeat-1";
        project.runs = {drill, repeat, run("ddp-01", "ddp"), run("single-01", "single")};
        QVERIFY(nextAction(project, {}).state != State::Failed);
        QCOMPARE(referenceRun(project, project.runs[2]), QStringLiteral("single-01"));
        QCOMPARE(referenceRun(project, project.runs[0]),
                 QStringLiteral("gate-repeat-1-01")); // among their own
    }

    void anotherSeedIsNoReference()
    {
        ProjectSnapshot project;
        RunEntry single = run("single-01", "single");
        single.config.seed = 7;
        project.runs = {run("ddp-01", "ddp"), single};
        QCOMPARE(referenceRun(project, project.runs[0]), QString());
    }
};

QTEST_GUILESS_MAIN(NextActionTest)
#include "tst_next_action.moc"
