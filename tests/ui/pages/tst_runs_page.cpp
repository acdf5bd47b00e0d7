// The Runs page with runs of scripts and of gates, and a run that is to survive the loss of ranks.
#include "ui/models/run_config_diff_model.h"
#include "ui/models/runs_filter_model.h"
#include "ui/pages/new_run_panel.h"
#include "ui/pages/overview_page.h"
#include "ui/pages/runs_page.h"
#include "ui/support/page_world.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/theme.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

using namespace lockstep;
using namespace lockstep::test;

class RunsPageTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { theme::apply(*qApp, ThemeKind::Light); }

    // A script tells its configuration only after its run began.
    void theConfigDiffFollowsWhatTheStoreSays()
    {
        PageWorld w;
        const QString a = w.project.finished("single", 1);
        const auto b = w.project.start("ddp", 2, [](RunConfig& config) { config.lr = 0.001; });
        QVERIFY(w.open());
        RunsPage page(w.context);
        showPage(page);
        w.selection.setRuns(a, b->id());
        auto* model = page.findChild<RunConfigDiffModel*>();
        QAbstractItemModelTester tester(model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const auto lrOfB = [model] {
            for (int group = 0; group < model->rowCount(); ++group) {
                const QModelIndex parent = model->index(group, 0);
                for (int row = 0; row < model->rowCount(parent); ++row)
                    if (model->index(row, RunConfigDiffModel::Key, parent).data() == QStringLiteral("lr"))
                        return model->index(row, RunConfigDiffModel::ValueB, parent).data().toString();
            }
            return QString();
        };
        const auto said = [&](double lr) {
            RunInfo info = b->info();
            RunConfig config = *runConfigFromJson(info.configJson);
            config.lr = lr;
            info.configJson = toJson(config);
            return w.project.store().updateRun(info).ok();
        };
        QVERIFY(said(0.375));
        QTRY_COMPARE(lrOfB(), QStringLiteral("0.375"));
        QSignalSpy resets(model, &QAbstractItemModel::modelReset);
        QSignalSpy changes(&w.model, &ProjectModel::changed);
        w.model.refresh(); // nothing new: the scroll position stays
        QTRY_VERIFY(!changes.isEmpty());
        QCOMPARE(resets.size(), 0);
        QVERIFY(said(0.75));
        QTRY_COMPARE(lrOfB(), QStringLiteral("0.75"));
    }

    void runsOfGatesWaitBehindASwitch()
    {
        PageWorld w;
        const QString own = w.project.finished("single", 2);
        const QString gate =
            w.project.finished("single", 2, 0, 0, [](RunConfig& c) { c.name = "gate-gradients-baseline"; });
        QVERIFY(w.open());
        RunsPage page(w.context);
        showPage(page);
        auto* table = child<DataTable>(page, "runsTable");
        auto* auxiliary = child<QCheckBox>(page, "showAuxiliary");
        QTRY_COMPARE(table->model()->rowCount(), 1);
        QVERIFY(auxiliary->isVisible());
        QCOMPARE(auxiliary->text(), QStringLiteral("Show runs of gates and drills (1)"));
        QVERIFY(shows(page, QStringLiteral("1 run(s), 1 of gates and drills")));
        table->selectId(own);
        auxiliary->click();
        QCOMPARE(table->model()->rowCount(), 2);
        QCOMPARE(table->currentId(), own);
        auxiliary->click();
        QCOMPARE(table->currentId(), own);
        page.open(QStringLiteral("run:") + gate); // asked for by name: shown
        QVERIFY(auxiliary->isChecked());
        QCOMPARE(table->currentId(), gate);
        QVERIFY(page.saveState().value(QStringLiteral("auxiliary")).toBool());
    }

    void withoutRunsOfGatesThereIsNoSwitch()
    {
        PageWorld w;
        w.project.finished("single", 2);
        QVERIFY(w.open());
        RunsPage page(w.context);
        showPage(page);
        QTRY_COMPARE(child<DataTable>(page, "runsTable")->model()->rowCount(), 1);
        QVERIFY(!child<QCheckBox>(page, "showAuxiliary")->isVisible());
    }

    void aScriptIsRunAgainByItsOwnCommand()
    {
        PageWorld w;
        const QString id = w.project.script({"torchrun", "--nproc-per-node", "2", "train.py"}, 2);
        QVERIFY(w.open());
        RunsPage page(w.context);
        showPage(page);
        auto* table = child<DataTable>(page, "runsTable");
        QTRY_COMPARE(table->model()->rowCount(), 1);
        table->selectId(id);
        QTest::mouseClick(child<QPushButton>(page, "rerun"), Qt::LeftButton);
        QVERIFY(w.commands.started.empty()); // no training of the engine
        QCOMPARE(w.commands.scripts.size(), 1);
        const ScriptRun again = w.commands.scripts.front();
        QCOMPARE(again.name, QStringLiteral("train"));
        QCOMPARE(again.command.words,
                 (std::vector<std::string>{"/opt/venv/bin/torchrun", "--nproc-per-node", "2", "train.py"}));
        QCOMPARE(again.command.folder, std::string("/data/work"));
        QVERIFY(again.command.ddp);
    }

    void anOldScriptRunWithoutItsCommandIsNotRepeatedAsSomethingElse()
    {
        PageWorld w;
        const QString id = w.project.finished("single", 2, 0, 0,
                                              [](RunConfig& c) { c.workloadOptions["script"] = "train.py"; });
        QVERIFY(w.open());
        RunsPage page(w.context);
        showPage(page);
        auto* table = child<DataTable>(page, "runsTable");
        QTRY_COMPARE(table->model()->rowCount(), 1);
        table->selectId(id);
        QVERIFY(!child<QPushButton>(page, "rerun")->isEnabled());
    }

    void anArmedRunSaysWhatItDoesWhenRanksAreLost()
    {
        PageWorld w;
        QVERIFY(w.open());
        RunsPage page(w.context);
        showPage(page);
        page.open(QStringLiteral("new:ddp"));
        auto* form = page.findChild<NewRunPanel*>();
        auto* onLoss = child<QComboBox>(*form, "onLoss");
        QVERIFY(onLoss->isEnabled());
        QTest::mouseClick(child<QPushButton>(*form, "startRun"), Qt::LeftButton);
        QVERIFY(!w.commands.calls.contains(QStringLiteral("with --on-loss survivors")));
        onLoss->setCurrentIndex(1);
        QVERIFY(shows(*form, QStringLiteral("Without checkpoints on the way")));
        child<QSpinBox>(*form, "checkpointEvery")->setValue(50);
        QVERIFY(!shows(*form, QStringLiteral("Without checkpoints on the way")));
        QVERIFY(shows(*form, QStringLiteral("--on-loss survivors")));
        QTest::mouseClick(child<QPushButton>(*form, "startRun"), Qt::LeftButton);
        QCOMPARE(w.commands.calls.last(), QStringLiteral("with --on-loss survivors"));
        QCOMPARE(w.commands.started.back().checkpointEvery, std::int64_t(50));
        child<QComboBox>(*form, "mode")->setCurrentText(QStringLiteral("single"));
        QVERIFY(!onLoss->isEnabled()); // one process has nothing to go on with
        QVERIFY(!shows(*form, QStringLiteral("--on-loss")));
    }

    void anArmedRunIsArmedAgain()
    {
        PageWorld w;
        const auto run = w.project.start(
            "ddp", 2, {}, [](RunInfo& info) { info.configJson = withOnLoss(info.configJson, "one"); });
        run->record(1, 3, plainLoss);
        run->finish();
        QVERIFY(w.open());
        RunsPage page(w.context);
        showPage(page);
        auto* table = child<DataTable>(page, "runsTable");
        QTRY_COMPARE(table->model()->rowCount(), 1);
        table->selectId(run->id());
        QTest::mouseClick(child<QPushButton>(page, "rerun"), Qt::LeftButton);
        QCOMPARE(w.commands.calls.last(), QStringLiteral("with --on-loss one"));
    }

    void theOverviewLeadsToTheFormForScripts()
    {
        PageWorld w;
        QVERIFY(w.open());
        OverviewPage page(w.context);
        showPage(page);
        QSignalSpy asked(&page, &Page::openRequested);
        auto* other = child<QPushButton>(page, "nextOther");
        QVERIFY(other->isVisible());
        QTest::mouseClick(other, Qt::LeftButton);
        auto* head = child<QPushButton>(page, "useScript");
        QVERIFY(!head->isVisible()); // once is enough
        w.project.finished("single", 2);
        QTRY_VERIFY(head->isVisible());
        QVERIFY(!other->isVisible());
        QTest::mouseClick(head, Qt::LeftButton);
        QCOMPARE(asked.size(), 2);
        for (const QList<QVariant>& call : asked)
            QCOMPARE(call, QList<QVariant>({QStringLiteral("runs"), QStringLiteral("script")}));
    }
};

QTEST_MAIN(RunsPageTest)
#include "tst_runs_page.moc"
