// ProjectModel and SeriesLoader on a real store, also while somebody writes to it.
#include "ui/models/next_action.h"
#include "ui/models/project_model.h"
#include "ui/models/runs_model.h"
#include "ui/models/series_loader.h"
#include "ui/support/project_fixture.h"

#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTest>

using namespace lockstep;
using namespace lockstep::test;

class ProjectModelTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void opensAProjectAndReportsNewRuns()
    {
        ProjectFixture project;
        ProjectModel model;
        QSignalSpy opened(&model, &ProjectModel::opened);
        model.open(project.folder());
        QTRY_COMPARE(opened.size(), 1);
        QVERIFY(model.isOpen());
        QCOMPARE(model.snapshot()->runs.size(), std::size_t(0));
        QCOMPARE(model.snapshot()->info.workload, std::string("toy-mlp"));

        const QString id = project.finished("single", 2);
        QTRY_COMPARE(model.snapshot()->runs.size(), std::size_t(1));
        QTRY_COMPARE(model.snapshot()->runs.front().info.state, RunState::Finished);
        QCOMPARE(model.snapshot()->runs.front().id(), id);
        QCOMPARE(model.snapshot()->runs.front().config.alignWorld, 2);
    }

    void otherArgumentsOfAScriptAreAnotherConfiguration()
    {
        ProjectFixture project;
        project.script({"python", "train.py", "--lr", "1"});
        project.script({"python", "train.py", "--lr", "1"});
        project.script({"python", "train.py", "--lr", "2"});
        ProjectModel model;
        model.open(project.folder());
        QTRY_VERIFY(model.isOpen());
        const auto& runs = model.snapshot()->runs;
        QCOMPARE(runs.size(), std::size_t(3));
        QVERIFY(runs[0].command && runs[0].command->words.back() == "2");
        RunsModel table;
        table.setSnapshot(model.snapshot());
        const auto hash = [&](int row) { return table.index(row, RunsModel::Config).data().toString(); };
        QCOMPARE(hash(1), hash(2));
        QVERIFY(hash(0) != hash(1));
        // So the second run has the first as its reference, the third none.
        QCOMPARE(referenceRun(*model.snapshot(), runs[1]), runs[2].id());
        QCOMPARE(referenceRun(*model.snapshot(), runs[0]), QString());
    }

    void aFolderWithoutAProjectIsRefusedWithASentence()
    {
        QTemporaryDir dir;
        ProjectModel model;
        QSignalSpy failed(&model, &ProjectModel::openFailed);
        model.open(dir.path());
        QTRY_COMPARE(failed.size(), 1);
        QVERIFY(failed.first().at(1).toString().endsWith(QLatin1Char('.')));
        QVERIFY(!model.isOpen());
    }

    void aDamagedStoreIsRefusedAndTheOpenProjectStays()
    {
        ProjectFixture good;
        QTemporaryDir dir;
        QFile bad(dir.filePath(QStringLiteral("lockstep.db")));
        QVERIFY(bad.open(QIODevice::WriteOnly));
        bad.write(QByteArray(8192, 'x'));
        bad.close();
        ProjectModel model;
        QSignalSpy failed(&model, &ProjectModel::openFailed);
        model.open(good.folder());
        QTRY_VERIFY(model.isOpen());
        model.open(dir.path());
        QTRY_COMPARE(failed.size(), 1);
        QVERIFY(model.isOpen());
        QCOMPARE(model.folder(), QDir(good.folder()).absolutePath());
        good.finished("single", 2); // still watched
        QTRY_COMPARE(model.snapshot()->runs.size(), std::size_t(1));
    }

    void aProjectThatWasMovedIsToldUntilItIsBack()
    {
        ProjectFixture project;
        project.finished("single", 2);
        const QString folder = project.folder(), away = folder + QStringLiteral("-away");
        ProjectModel model;
        QSignalSpy problem(&model, &ProjectModel::problem);
        model.open(folder);
        QTRY_VERIFY(model.isOpen());
        QVERIFY(QDir().rename(folder, away));
        QTRY_COMPARE(problem.size(), 1);
        QVERIFY(problem.last().at(0).toString().contains(folder));
        QCOMPARE(model.snapshot()->runs.size(), std::size_t(1)); // what was read stays
        QVERIFY(QDir().rename(away, folder));
        QTRY_COMPARE(problem.size(), 2);
        QVERIFY(problem.last().at(0).toString().isEmpty());
    }

    void aRunWhoseWriterVanishedIsInterrupted()
    {
        ProjectFixture project;
        auto run = project.start("single", 2);
        run->record(1, 3, plainLoss);
        ProjectModel model;
        model.open(project.folder());
        QTRY_VERIFY(model.isOpen());
        QCOMPARE(model.snapshot()->runs.front().info.state, RunState::Running);
        run.reset(); // gone without a word, as after SIGKILL
        QTRY_COMPARE(model.snapshot()->runs.front().info.state, RunState::Interrupted);
    }

    void closingForgetsEverything()
    {
        ProjectFixture project;
        ProjectModel model;
        model.open(project.folder());
        QTRY_VERIFY(model.isOpen());
        QSignalSpy closed(&model, &ProjectModel::closed);
        model.close();
        QCOMPARE(closed.size(), 1);
        QVERIFY(!model.isOpen());
        QVERIFY(model.snapshot()->runs.empty());
    }

    void liveRunsDeliverOnlyNewRows()
    {
        ProjectFixture project;
        auto run = project.start("ddp", 2);
        run->record(1, 10, plainLoss);
        SeriesLoader loader;
        std::map<SeriesKey, std::vector<std::int64_t>> steps;
        int restarts = 0;
        connect(&loader, &SeriesLoader::rowsArrived, this,
                [&](const QString& id, const std::vector<SeriesRows>& series, bool restart) {
                    QCOMPARE(id, run->id());
                    restarts += restart;
                    for (const SeriesRows& rows : series)
                        for (const std::int64_t step : rows.rows->steps)
                            steps[rows.key].push_back(step);
                });
        const QString folder = QString::fromStdString(run->info().folder);
        loader.setRequests({{run->id(), folder, true, {Quantity::Loss}}});
        const SeriesKey key{1, Quantity::Loss, 0};
        QTRY_COMPARE(steps[key].size(), std::size_t(10));
        run->record(11, 17, plainLoss);
        QTRY_COMPARE(steps[key].size(), std::size_t(17));
        run->record(18, 20, plainLoss);
        run->finish();
        loader.setRequests({{run->id(), folder, false, {Quantity::Loss}}}); // ended: one last look
        QTRY_COMPARE(steps[key].size(), std::size_t(20));
        for (std::size_t i = 0; i < 20; ++i)
            QCOMPARE(steps[key][i], std::int64_t(i + 1)); // each once and in order
        QCOMPARE(restarts, 1);
        QCOMPARE(steps.size(), std::size_t(2)); // both ranks, nothing that was not asked for
    }

    void runsThatAreNoLongerWantedAreNotDelivered()
    {
        ProjectFixture project;
        const QString a = project.finished("single", 2);
        const QString b = project.finished("ddp", 2);
        SeriesLoader loader;
        QStringList delivered;
        connect(&loader, &SeriesLoader::rowsArrived, this, [&](const QString& id) { delivered << id; });
        const auto request = [&](const QString& id) {
            return SeriesRequest{
                id, project.folder() + QStringLiteral("/runs/") + id, false, {Quantity::Loss}};
        };
        loader.setRequests({request(a)});
        loader.setRequests({request(b)}); // before the first answer could arrive
        QTRY_VERIFY(delivered.contains(b));
        QVERIFY(!delivered.contains(a));
    }

    void aMissingRunFileIsAProblemNotACrash()
    {
        SeriesLoader loader;
        QSignalSpy problems(&loader, &SeriesLoader::problem);
        loader.setRequests(
            {{QStringLiteral("x"), QStringLiteral("/nowhere/runs/x"), false, {Quantity::Loss}}});
        QTRY_COMPARE(problems.size(), 1);
    }
};

QTEST_GUILESS_MAIN(ProjectModelTest)
#include "tst_project_model.moc"
