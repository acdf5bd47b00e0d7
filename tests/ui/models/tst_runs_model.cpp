// The table of runs and its filter under QAbstractItemModelTester, built before the data arrives.
#include "ui/models/format.h"
#include "ui/models/roles.h"
#include "ui/models/runs_filter_model.h"
#include "ui/models/runs_model.h"
#include "ui/support/table_rows.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

#include <cmath>
#include <limits>

using namespace lockstep;
using namespace lockstep::test;

class RunsModelTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void runsAreInsertedRemovedAndChangedOneByOne()
    {
        RunsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
        model.setSnapshot(snapshot({entry("b"), entry("a")}));
        QCOMPARE(column(model, RunsModel::Name), QStringList({"b", "a"}));
        QPersistentModelIndex kept = model.index(1, RunsModel::Name);

        model.setSnapshot(snapshot({entry("c", RunState::Running), entry("b"), entry("a")}));
        QCOMPARE(column(model, RunsModel::Name), QStringList({"c", "b", "a"}));
        QCOMPARE(kept.row(), 2);
        QCOMPARE(kept.data().toString(), QStringLiteral("a"));

        QSignalSpy changes(&model, &QAbstractItemModel::dataChanged);
        RunEntry running = entry("c", RunState::Running);
        running.info.lastStep = 13;
        model.setSnapshot(snapshot({running, entry("b"), entry("a")}));
        QCOMPARE(changes.size(), 1); // only the row that changed
        QCOMPARE(changes.first().first().toModelIndex().row(), 0);

        model.setSnapshot(snapshot({entry("a")}));
        QCOMPARE(column(model, RunsModel::Name), QStringList({"a"}));
        QVERIFY(kept.isValid());
        model.setSnapshot(snapshot({entry("a"), entry("z")})); // another order
        model.setSnapshot(snapshot({entry("z"), entry("a")}));
        QCOMPARE(column(model, RunsModel::Name), QStringList({"z", "a"}));
        QCOMPARE(resets.size(), 0);
    }

    void runStatesHaveAWordAndAShapeEach_data()
    {
        QTest::addColumn<int>("state");
        QTest::addColumn<QString>("word");
        QTest::addColumn<int>("shape");
        QTest::newRow("running") << int(RunState::Running) << "running" << int(State::Running);
        QTest::newRow("finished") << int(RunState::Finished) << "finished" << int(State::Holds);
        QTest::newRow("failed") << int(RunState::Failed) << "failed" << int(State::Failed);
        QTest::newRow("stopped") << int(RunState::Stopped) << "stopped" << int(State::Off);
        QTest::newRow("interrupted") << int(RunState::Interrupted) << "interrupted"
                                     << int(State::CannotCompare);
    }

    void runStatesHaveAWordAndAShapeEach()
    {
        QFETCH(int, state);
        QFETCH(QString, word);
        QFETCH(int, shape);
        RunsModel model;
        model.setSnapshot(snapshot({entry("a", RunState(state))}));
        const QModelIndex cell = model.index(0, RunsModel::StateColumn);
        QCOMPARE(cell.data().toString(), word);
        QCOMPARE(cell.data(StateRole).toInt(), shape);
    }

    void aDivergedRunIsShownWithItsStep()
    {
        RunsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setSnapshot(snapshot({entry("a")}));
        RunVerdict verdict;
        verdict.state = State::Diverged;
        verdict.firstStep = 41;
        verdict.sentence = QStringLiteral("pre-reduction gradient");
        model.setVerdicts({{QStringLiteral("a"), verdict}});
        QCOMPARE(model.index(0, RunsModel::StateColumn).data().toString(), QStringLiteral("diverged"));
        QCOMPARE(model.index(0, RunsModel::DivergesAt).data().toString(), QStringLiteral("41"));
        QCOMPARE(model.index(0, RunsModel::DivergesAt).data(ToneRole).toInt(), int(Tone::Red));
    }

    void marksAreShownInTheFirstColumn()
    {
        RunsModel model;
        model.setSnapshot(snapshot({entry("b"), entry("a")}));
        model.setMarks(QStringLiteral("a"), QStringLiteral("b"));
        QCOMPARE(column(model, RunsModel::Mark), QStringList({"B", "A"}));
    }

    void anUnreadableConfigurationShowsDashes()
    {
        RunsModel model;
        RunEntry run = entry("a");
        run.configReadable = false;
        model.setSnapshot(snapshot({run}));
        QCOMPARE(model.index(0, RunsModel::Mode).data().toString(), QStringLiteral("-"));
        QCOMPARE(model.index(0, RunsModel::Config).data().toString(), QStringLiteral("-"));
    }

    void theFilterUnderstandsWordsAndKeys_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QStringList>("names");
        QTest::newRow("nothing") << "" << QStringList({"ddp-w4-01", "ddp-w2-01", "single-01"});
        QTest::newRow("mode") << "mode:ddp" << QStringList({"ddp-w4-01", "ddp-w2-01"});
        QTest::newRow("mode-and-world") << "mode:ddp world:4" << QStringList({"ddp-w4-01"});
        QTest::newRow("state") << "state:running" << QStringList({"ddp-w2-01"});
        QTest::newRow("part-of-a-name") << "ingle" << QStringList({"single-01"});
        QTest::newRow("fault") << "fault:B2" << QStringList({"ddp-w4-01"});
        QTest::newRow("no-match") << "mode:twin" << QStringList();
    }

    void theFilterUnderstandsWordsAndKeys()
    {
        QFETCH(QString, text);
        QFETCH(QStringList, names);
        RunsModel model;
        RunsFilterModel filter;
        QAbstractItemModelTester tester(&filter, QAbstractItemModelTester::FailureReportingMode::QtTest);
        filter.setSourceModel(&model);
        RunEntry four = entry("ddp-w4-01");
        four.config.mode = "ddp";
        four.config.world = 4;
        four.config.faults.push_back({"B2", {}});
        RunEntry two = entry("ddp-w2-01", RunState::Running);
        two.config.mode = "ddp";
        two.config.world = 2;
        model.setSnapshot(snapshot({four, two, entry("single-01")}));
        filter.setFilterText(text);
        QCOMPARE(column(filter, RunsModel::Name), names);
    }

    void runsOfGatesAreShownOnlyWhenAskedFor()
    {
        RunsModel model;
        RunsFilterModel filter;
        QAbstractItemModelTester tester(&filter, QAbstractItemModelTester::FailureReportingMode::QtTest);
        filter.setSourceModel(&model);
        filter.setLimit(2);
        model.setSnapshot(snapshot({entry("gate-a-01"), entry("c-01"), entry("drill-b-01"), entry("b-01"),
                                    entry("replay-01"), entry("a-01")}));
        QCOMPARE(column(filter, RunsModel::Name), QStringList({"c-01", "b-01"}));
        model.setSnapshot(snapshot({entry("d-01"), entry("gate-a-01"), entry("c-01"), entry("drill-b-01"),
                                    entry("b-01"), entry("replay-01"), entry("a-01")}));
        QCOMPARE(column(filter, RunsModel::Name),
                 QStringList({"d-01", "c-01"})); // the limit moves with new runs
        filter.setLimit(-1);
        QCOMPARE(column(filter, RunsModel::Name), QStringList({"d-01", "c-01", "b-01", "a-01"}));
        filter.setAuxiliaryShown(true);
        QCOMPARE(filter.rowCount(), 7);
    }

    void aScriptOfThatNameIsNoRunOfAGate()
    {
        RunEntry script = entry("replay_buffer-01");
        QVERIFY(script.auxiliary());
        ScriptCommand command;
        command.words = {"python", "replay_buffer.py"};
        script.info.configJson = withScriptCommand(toJson({}), command);
        QVERIFY(!script.auxiliary());
    }
};

QTEST_GUILESS_MAIN(RunsModelTest)
#include "tst_runs_model.moc"
