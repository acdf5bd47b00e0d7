// Every page offscreen on a real project: what it shows and what it asks RunCommands for.
#include "ui/models/comparison_model.h"
#include "ui/models/gates_model.h"
#include "ui/models/project_model.h"
#include "ui/models/runs_model.h"
#include "ui/pages/checkpoints_page.h"
#include "ui/pages/curves_page.h"
#include "ui/pages/gate_page.h"
#include "ui/pages/new_run_panel.h"
#include "ui/pages/overview_page.h"
#include "ui/pages/runs_page.h"
#include "ui/plots/curve_view.h"
#include "ui/support/page_world.h"
#include "ui/support/rank_run.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/causal_strip.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/theme.h"

#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>
#include <QTreeView>
#include <QUndoStack>

#include <cmath>

using namespace lockstep;
using namespace lockstep::test;

namespace {

using World = PageWorld;

void addFault(RunConfig& config)
{
    config.faults.push_back({"B2", {}});
}

QPushButton* buttonNamed(QWidget& page, const char* name)
{
    return page.findChild<QPushButton*>(QString::fromLatin1(name));
}

// The first curve of the plot has a value at this step.
bool drawnTo(const CurveView& view, qint64 step)
{
    const std::vector<ReadoutRow> rows = view.readout(step);
    return !rows.empty() && rows.front().present;
}

} // namespace

class PagesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { theme::apply(*qApp, ThemeKind::Light); }

    void overviewStartsBothRunsWithOneClick()
    {
        World w;
        QVERIFY(w.open());
        OverviewPage page(w.context);
        showPage(page);
        QTest::mouseClick(buttonNamed(page, "nextPrimary"), Qt::LeftButton);
        QCOMPARE(w.commands.started.size(), std::size_t(2));
        QCOMPARE(w.commands.started[0].mode, std::string("single"));
        QCOMPARE(w.commands.started[0].alignWorld, 2);
        QCOMPARE(w.commands.started[1].mode, std::string("ddp"));
        QCOMPARE(w.commands.started[1].world, 2);
        for (const RunConfig& config : w.commands.started)
            QVERIFY(validate(config).ok());
    }

    void overviewNamesWhereTheRunsPart()
    {
        World w;
        w.project.finished("single", 2);
        w.project.finished("ddp", 2);
        const QString faulty = w.project.finished("ddp", 2, 0.5, 17, addFault);
        QVERIFY(w.open());
        OverviewPage page(w.context);
        showPage(page);
        QTRY_VERIFY(shows(page, QStringLiteral("parts from ddp-w2-01 at step 17")));
        QSignalSpy asked(&page, &Page::openRequested);
        QTest::mouseClick(buttonNamed(page, "nextPrimary"), Qt::LeftButton);
        QCOMPARE(asked.size(), 1);
        QCOMPARE(asked.first().at(0).toString(), QStringLiteral("curves"));
        QCOMPARE(asked.first().at(1).toString(), QStringLiteral("run:") + faulty);
    }

    void overviewShowsAnErrorInPlaceUntilARunStarts()
    {
        World w;
        QVERIFY(w.open());
        OverviewPage page(w.context);
        showPage(page);
        Q_EMIT w.commands.failed(QStringLiteral("run"), QStringLiteral("The port is in use."));
        QVERIFY(shows(page, QStringLiteral("The port is in use.")));
        Q_EMIT w.commands.runStarted(QStringLiteral("x"));
        QVERIFY(!shows(page, QStringLiteral("The port is in use.")));
    }

    void keysMarkRunsAndTheDiffListsDifferingKeysOnly()
    {
        World w;
        const QString single = w.project.finished("single", 2);
        const QString ddp = w.project.finished("ddp", 2);
        QVERIFY(w.open());
        RunsPage page(w.context);
        showPage(page);
        auto* table = page.findChild<DataTable*>(QStringLiteral("runsTable"));
        QTRY_COMPARE(table->model()->rowCount(), 2);
        table->selectId(single);
        QTest::keyClick(table, Qt::Key_Space);
        table->selectId(ddp);
        QTest::keyClick(table, Qt::Key_Space, Qt::ShiftModifier);
        QCOMPARE(w.selection.runA(), single);
        QCOMPARE(w.selection.runB(), ddp);
        QVERIFY(shows(page, QStringLiteral("A single-w2-01 against B ddp-w2-01")));
        QVERIFY(shows(page, QStringLiteral("3 differ"))); // mode, world, align_world
        QSignalSpy asked(&page, &Page::openRequested);
        QTest::keyClick(table, Qt::Key_Return);
        QCOMPARE(asked.first().at(1).toString(), QStringLiteral("run:") + ddp);
    }

    void deletingARunCanBeUndone()
    {
        World w;
        const QString run = w.project.finished("single", 2);
        QVERIFY(w.open());
        RunsPage page(w.context);
        showPage(page);
        auto* table = page.findChild<DataTable*>(QStringLiteral("runsTable"));
        QTRY_COMPARE(table->model()->rowCount(), 1);
        table->selectId(run);
        QTest::keyClick(table, Qt::Key_Delete);
        QCOMPARE(w.commands.calls.last(), QStringLiteral("remove ") + run);
        w.undo.undo();
        QCOMPARE(w.commands.calls.last(), QStringLiteral("restore ") + run);
    }

    void aRunningRunIsStoppedAndCannotBeDeleted()
    {
        World w;
        auto run = w.project.start("single", 2);
        run->record(1, 4, plainLoss);
        QVERIFY(w.open());
        RunsPage page(w.context);
        showPage(page);
        auto* table = page.findChild<DataTable*>(QStringLiteral("runsTable"));
        QTRY_COMPARE(table->model()->rowCount(), 1);
        table->selectId(run->id());
        QTest::keyClick(table, Qt::Key_Delete);
        QVERIFY(!w.commands.calls.contains(QStringLiteral("remove ") + run->id()));
        QTest::mouseClick(buttonNamed(page, "stopRun"), Qt::LeftButton);
        QCOMPARE(w.commands.calls.last(), QStringLiteral("stop ") + run->id());
        QCOMPARE(table->model()->index(0, RunsModel::Steps).data().toString(), QStringLiteral("4 / 40"));
        run->finish();
    }

    void theFormStartsWhatItSays()
    {
        World w;
        QVERIFY(w.open());
        RunsPage page(w.context);
        showPage(page);
        page.open(QStringLiteral("new:ddp"));
        auto* form = page.findChild<NewRunPanel*>();
        QVERIFY(form->isVisible());
        form->findChild<QComboBox*>(QStringLiteral("workload"))->setCurrentText(QStringLiteral("digits-cnn"));
        form->findChild<QLineEdit*>(QStringLiteral("lr"))->setText(QStringLiteral("0.05"));
        form->findChild<QLineEdit*>(QStringLiteral("fault"))->setText(QStringLiteral("B6,k=2"));
        QTest::mouseClick(buttonNamed(page, "startRun"), Qt::LeftButton);
        QCOMPARE(w.commands.started.size(), std::size_t(1));
        const RunConfig config = w.commands.started.front();
        QCOMPARE(config.workload, std::string("digits-cnn"));
        QCOMPARE(config.lr, 0.05);
        QCOMPARE(config.world, 2);
        QCOMPARE(config.faults.front().parameters.at("k"), std::string("2"));
        QVERIFY(page.escape());
        QVERIFY(!form->isVisible());
    }

    void impossibleValuesAreNamedAndNotStarted_data()
    {
        QTest::addColumn<QString>("field");
        QTest::addColumn<QString>("value");
        QTest::newRow("no-number") << "lr"
                                   << "fast";
        QTest::newRow("negative") << "lr"
                                  << "-1";
        QTest::newRow("not-a-number") << "lr"
                                      << "nan";
        QTest::newRow("clip") << "clip_norm"
                              << "x";
        QTest::newRow("fault") << "fault"
                               << "B6,k";
    }
    void impossibleValuesAreNamedAndNotStarted()
    {
        QFETCH(QString, field);
        QFETCH(QString, value);
        FakeCommands commands;
        NewRunPanel form(commands);
        form.show();
        auto* start = form.findChild<QPushButton*>(QStringLiteral("startRun"));
        QVERIFY(start->isEnabled());
        auto* edit = form.findChild<QLineEdit*>(field);
        const QString before = edit->text();
        edit->setText(value);
        QVERIFY(!start->isEnabled());
        QTest::keyClick(edit, Qt::Key_Return);
        QVERIFY(commands.started.empty());
        edit->setText(before);
        QVERIFY(start->isEnabled());
    }

    void theFormGivesBackTheConfigurationItGot()
    {
        RunConfig config;
        config.mode = "ddp";
        config.world = 3;
        config.batch = 7;
        config.steps = 9;
        config.optimizer = "sgd";
        config.momentum = 0.5; // not in the form: kept
        config.bucketView = true;
        config.scheduler = "cosine";
        config.clipNorm = 0.25;
        config.faults = {{"B6", {{"k", "2"}}}};
        FakeCommands commands;
        NewRunPanel form(commands);
        form.setConfig(config);
        QCOMPARE(toJson(form.config()), toJson(config));
    }

    void curvesShowTheChosenRunsAndTheFirstDivergentStep()
    {
        World w;
        const QString clean = w.project.finished("ddp", 2);
        const QString faulty = w.project.finished("ddp", 2, 0.25, 17, addFault);
        QVERIFY(w.open());
        CurvesPage page(w.context);
        showPage(page);
        page.open(QStringLiteral("run:") + faulty);
        QCOMPARE(w.selection.runA(), clean);
        auto* loss = page.findChild<CurveView*>(QStringLiteral("lossPlot"));
        auto* delta = page.findChild<CurveView*>(QStringLiteral("deltaPlot"));
        QTRY_VERIFY(drawnTo(*loss, 40));
        QTRY_COMPARE(delta->readout(20).size(), std::size_t(1));
        QTRY_VERIFY(delta->readout(20).front().present);
        QVERIFY(qFuzzyCompare(delta->readout(20).front().value, 0.25));
        QCOMPARE(delta->readout(16).front().value, 0.0);
        // The exact stored value, mean over both ranks.
        const double mean = (plainLoss(0, 5) + plainLoss(1, 5)) / 2;
        QCOMPARE(loss->readout(5).front().value, mean);
        QTRY_VERIFY(shows(page, QStringLiteral("First divergent step 17: loss")));
        page.jumpToDivergence();
        QCOMPARE(loss->cursorStep(), std::optional<qint64>(17));
        QCOMPARE(delta->cursorStep(), std::optional<qint64>(17));
        QVERIFY(page.escape());
        QVERIFY(!loss->cursorStep());
    }

    void curvesLieOverSamplesWhenAsked()
    {
        World w;
        RankRun run(w.project, 2);
        for (std::int64_t step = 1; step <= 20; ++step)
            for (int rank = 0; rank < 2; ++rank)
                run.record(rank, step,
                           {{Quantity::Loss, 0, bitsOf(plainLoss(rank, step))},
                            {Quantity::SamplesSeen, 0, std::uint64_t(step * 16)}});
        run.commit();
        run.finish();
        QVERIFY(w.open());
        CurvesPage page(w.context);
        showPage(page);
        auto* loss = page.findChild<CurveView*>(QStringLiteral("lossPlot"));
        QTRY_VERIFY(drawnTo(*loss, 20));
        page.findChild<QComboBox*>(QStringLiteral("xAxis"))->setCurrentIndex(3); // samples, log
        QTRY_VERIFY(drawnTo(*loss, 320));                                        // 20 steps of 2 x 8
        QVERIFY(!drawnTo(*loss, 20));
        QTRY_VERIFY(loss->xRange().second >= 320);
        QCOMPARE(loss->xScale(), XScale::Log);
        page.open(QStringLiteral("step:10"));
        QCOMPARE(loss->cursorStep(), std::optional<qint64>(160));
        QVERIFY(loss->readoutText(160).startsWith(QStringLiteral("160 samples")));
        QCOMPARE(w.selection.step(), std::optional<qint64>(10)); // other pages speak of steps
        if (qEnvironmentVariableIsSet("LOCKSTEP_GRAB"))
            page.grab().save(qEnvironmentVariable("LOCKSTEP_GRAB") + QStringLiteral("/samples.png"));
    }

    void curvesFollowALiveRun()
    {
        World w;
        auto run = w.project.start("single", 2);
        run->record(1, 5, plainLoss);
        QVERIFY(w.open());
        CurvesPage page(w.context);
        showPage(page);
        auto* loss = page.findChild<CurveView*>(QStringLiteral("lossPlot"));
        QTRY_VERIFY(drawnTo(*loss, 5));
        QVERIFY(!drawnTo(*loss, 6));
        run->record(6, 30, plainLoss);
        QTRY_VERIFY(drawnTo(*loss, 30));
        QVERIFY(loss->xRange().second >= 30);
        run->finish();
    }

    void nanIsKeptAndTheScaleKeyWalksTheScales()
    {
        World w;
        auto run = w.project.start("single", 2);
        run->record(1, 9,
                    [](int, std::int64_t step) { return step == 4 ? std::nan("") : 1.0 / double(step); });
        run->finish();
        QVERIFY(w.open());
        CurvesPage page(w.context);
        showPage(page);
        auto* loss = page.findChild<CurveView*>(QStringLiteral("lossPlot"));
        QTRY_VERIFY(!loss->readout(4).empty() && loss->readout(4).front().present);
        QVERIFY(std::isnan(loss->readout(4).front().value));
        QCOMPARE(loss->yScale(), YScale::Linear);
        page.nextScale();
        QCOMPARE(loss->yScale(), YScale::Log);
    }

    void checkpointsWithoutAnyExplainWhatToDo()
    {
        World w;
        QVERIFY(w.open());
        CheckpointsPage page(w.context);
        showPage(page);
        QVERIFY(shows(page, QStringLiteral("No checkpoint yet")));
    }

    void aBrokenCheckpointSaysSoInPlace()
    {
        World w;
        QTemporaryDir dir;
        QFile file(dir.filePath(QStringLiteral("half.pt")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("PK\3\4 cut");
        file.close();
        QVERIFY(w.open());
        CheckpointsPage page(w.context);
        showPage(page);
        page.open(QStringLiteral("file:") + file.fileName());
        auto* banner = page.findChild<Banner*>();
        QTRY_VERIFY(banner->isVisible());
        QVERIFY(!banner->headline().isEmpty());
    }

    void aClosedPhaseSaysWhatOpensIt()
    {
        World w;
        QVERIFY(w.open());
        GatePage page(w.context, QStringLiteral("gradients"));
        showPage(page);
        QVERIFY(shows(page, QStringLiteral("This phase is closed")));
        QVERIFY(shows(page, QStringLiteral("Opens when gate 1 has passed or was overridden")));
        QVERIFY(!buttonNamed(page, "runGate")->isVisible());
    }

    void aFailingGateIsOverriddenWithAReasonOnly()
    {
        World w;
        GateInfo gate;
        gate.phase = "preflight";
        gate.verdict = "fail";
        gate.checks.resize(1);
        gate.checks[0].id = "threads";
        gate.checks[0].verdict = "fail";
        gate.checks[0].sentence = "8 threads against 2";
        gate.checks[0].fix = "torch.set_num_threads(2)";
        QVERIFY(w.project.store().saveGate(gate).ok());
        QVERIFY(w.open());
        GatePage page(w.context, QStringLiteral("preflight"));
        showPage(page);
        QVERIFY(shows(page, QStringLiteral("torch.set_num_threads(2)")));
        QTest::mouseClick(buttonNamed(page, "runGate"), Qt::LeftButton);
        QCOMPARE(w.commands.calls.last(), QStringLiteral("judge preflight"));
        for (QPushButton* one : page.findChildren<QPushButton*>())
            if (one->text() == QStringLiteral("Override with reason"))
                QTest::mouseClick(one, Qt::LeftButton);
        auto* reason = page.findChild<QLineEdit*>();
        QVERIFY(reason->isVisible());
        QTest::keyClick(reason, Qt::Key_Return);
        QCOMPARE(w.commands.calls.last(), QStringLiteral("judge preflight")); // no reason, no override
        QTest::keyClicks(reason, QStringLiteral("known difference"));
        QTest::keyClick(reason, Qt::Key_Return);
        QCOMPARE(w.commands.calls.last(), QStringLiteral("override preflight: known difference"));
    }
};

QTEST_MAIN(PagesTest)
#include "tst_pages.moc"
