// The Runs page with a user's script, runs of gates, and a run that is to survive the loss of ranks.
#include "ui/models/run_config_diff_model.h"
#include "ui/models/runs_filter_model.h"
#include "ui/pages/new_run_panel.h"
#include "ui/pages/overview_page.h"
#include "ui/pages/runs_page.h"
#include "ui/pages/script_panel.h"
#include "ui/support/page_world.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/run_strip.h"
#include "ui/widgets/theme.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

using namespace lockstep;
using namespace lockstep::test;

namespace {

template<typename T>
T* child(QWidget& page, const char* name)
{
    return page.findChild<T*>(QString::fromLatin1(name));
}

// A page with the form for scripts open, and a folder with a script and something that passes for a Python.
struct ScriptWorld {
    PageWorld w;
    QTemporaryDir dir;
    std::optional<RunsPage> page;
    QString python;

    bool open()
    {
        QFile script(dir.filePath(QStringLiteral("train.py")));
        if (!w.open() || !script.open(QIODevice::WriteOnly))
            return false;
        python = dir.filePath(QStringLiteral("python"));
        QFile program(python);
        if (!program.open(QIODevice::WriteOnly) ||
            !program.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner))
            return false;
        page.emplace(w.context);
        page->resize(1400, 900);
        page->show();
        page->open(QStringLiteral("script"));
        return QTest::qWaitForWindowExposed(&*page);
    }
    QLineEdit* edit(const char* name) { return child<QLineEdit>(*page, name); }
    QString note(const char* name) { return child<QLabel>(*page, name)->text(); }
    bool canStart() { return child<QPushButton>(*page, "startScript")->isEnabled(); }
    void fill()
    {
        edit("scriptFolder")->setText(dir.path());
        auto* interpreter = child<QComboBox>(*page, "scriptInterpreter")->lineEdit();
        interpreter->selectAll();
        QTest::keyClicks(interpreter, python);
        edit("scriptSingle")->setText(QStringLiteral("python train.py --lr 1"));
        edit("scriptDdp")->setText(QStringLiteral("torchrun --nproc-per-node 2 train.py --lr 1"));
    }
    void answer(const QString& error = {})
    {
        InterpreterFacts facts;
        facts.path = python;
        if (error.isEmpty()) {
            facts.python = QStringLiteral("3.11.2");
            facts.torch = QStringLiteral("2.15.0");
        }
        facts.error = error;
        Q_EMIT w.commands.interpreterChecked(facts);
    }
};

} // namespace

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

    void aScriptStartsOnceEverythingIsKnownToBeRight()
    {
        ScriptWorld s;
        QVERIFY(s.open());
        s.fill();
        QVERIFY(!s.canStart()); // the interpreter has not answered
        QVERIFY(s.w.commands.calls.contains(QStringLiteral("interpreter ") + s.python));
        s.answer();
        QCOMPARE(s.note("scriptInterpreterNote"), QStringLiteral("Python 3.11.2, torch 2.15.0"));
        QCOMPARE(s.note("scriptDdpNote"), QStringLiteral("2 rank(s)"));
        QVERIFY(shows(*s.page, QStringLiteral("torch.distributed.run --nproc-per-node 2 train.py --lr 1")));
        QVERIFY(s.canStart());
        QTest::keyClick(s.edit("scriptSingle"), Qt::Key_Return);
        QCOMPARE(s.w.commands.scripts.size(), 2);
        QVERIFY(!s.w.commands.scripts[0].command.ddp);
        QCOMPARE(s.w.commands.scripts[1].command.world, 2);
        QCOMPARE(s.w.commands.scripts[1].command.folder, s.dir.path().toStdString());
        QVERIFY(s.w.commands.started.empty());
    }

    void whatIsWrongIsSaidUnderTheFieldAndReadOutWithIt()
    {
        ScriptWorld s;
        QVERIFY(s.open());
        s.fill();
        s.answer();
        QVERIFY(s.canStart());
        s.edit("scriptSingle")->setText(QStringLiteral("python tarin.py"));
        QVERIFY(s.note("scriptSingleNote").startsWith(QStringLiteral("tarin.py is not in")));
        QCOMPARE(s.edit("scriptSingle")->accessibleDescription(), s.note("scriptSingleNote"));
        QVERIFY(!s.edit("scriptSingle")->accessibleName().isEmpty());
        QVERIFY(!s.canStart());
        QTest::keyClick(s.edit("scriptSingle"), Qt::Key_Return);
        QVERIFY(s.w.commands.scripts.isEmpty());
        s.edit("scriptSingle")->setText(QStringLiteral("python train.py"));
        QVERIFY(s.canStart());
        s.edit("scriptMetric")->setText(QStringLiteral("loss=("));
        QVERIFY(!s.canStart());
    }

    void anInterpreterThatCameWithTheProjectIsStartedOnlyWhenAskedFor()
    {
        ScriptWorld s;
        const QDir around(QFileInfo(s.w.project.folder()).path());
        QVERIFY(around.mkpath(QStringLiteral(".venv/bin")));
        QFile program(around.filePath(QStringLiteral(".venv/bin/python")));
        QVERIFY(program.open(QIODevice::WriteOnly));
        QVERIFY(program.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        program.close();
        QVERIFY(s.open());
        QCOMPARE(child<QComboBox>(*s.page, "scriptInterpreter")->currentText(), program.fileName());
        auto* ask = child<QPushButton>(*s.page, "askInterpreter");
        QVERIFY(ask->isVisible());
        QVERIFY(s.note("scriptInterpreterNote").contains(QStringLiteral("not started yet")));
        const QString call = QStringLiteral("interpreter ") + program.fileName();
        QVERIFY(!s.w.commands.calls.contains(call));
        QTest::mouseClick(ask, Qt::LeftButton);
        QCOMPARE(s.w.commands.calls.count(call), 1);
        QVERIFY(!ask->isVisible());
    }

    void anInterpreterWithoutTorchIsNamed()
    {
        ScriptWorld s;
        QVERIFY(s.open());
        s.fill();
        s.answer(QStringLiteral("It cannot import torch."));
        QCOMPARE(s.note("scriptInterpreterNote"), QStringLiteral("It cannot import torch."));
        QVERIFY(!s.canStart());
    }

    void anInterpreterWithoutTorchIsSuggestedOnlyAsLongAsThereIsAnother()
    {
        ScriptWorld s;
        qputenv("VIRTUAL_ENV", s.dir.path().toLocal8Bit());
        QVERIFY(QDir(s.dir.path()).mkpath(QStringLiteral("bin")));
        QFile environment(s.dir.filePath(QStringLiteral("bin/python")));
        QVERIFY(environment.open(QIODevice::WriteOnly));
        QVERIFY(environment.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        environment.close();
        QVERIFY(s.open());
        qunsetenv("VIRTUAL_ENV");
        auto* box = child<QComboBox>(*s.page, "scriptInterpreter");
        QCOMPARE(box->currentText(), box->itemText(0));
        if (box->count() < 2)
            QSKIP("There is no other Python in PATH; install one with apt-get install python3");
        s.python = box->currentText();
        s.answer(QStringLiteral("It cannot import torch."));
        QCOMPARE(box->currentText(), box->itemText(1));
        s.fill(); // chosen: stays, whatever it answers
        s.answer(QStringLiteral("It cannot import torch."));
        QCOMPARE(box->currentText(), s.python);
    }

    void whatWasMissingIsLookedForAgainWhenTheWindowComesBack()
    {
        ScriptWorld s;
        QVERIFY(s.open());
        s.fill();
        s.edit("scriptSingle")->setText(QStringLiteral("python later.py"));
        s.answer(QStringLiteral("It cannot import torch."));
        const QString ask = QStringLiteral("interpreter ") + s.python;
        QCOMPARE(s.w.commands.calls.count(ask), 1);
        QFile later(s.dir.filePath(QStringLiteral("later.py")));
        QVERIFY(later.open(QIODevice::WriteOnly));
        QEvent back(QEvent::WindowActivate);
        QApplication::sendEvent(s.page->findChild<ScriptPanel*>(), &back);
        QCOMPARE(s.w.commands.calls.count(ask), 2);
        QVERIFY(s.note("scriptSingleNote").isEmpty());
        s.answer();
        QVERIFY(s.canStart());
    }

    void theRunsAreFollowedAndLeadToCurvesAndFindings()
    {
        ScriptWorld s;
        QVERIFY(s.open());
        s.fill();
        s.answer();
        QTest::mouseClick(child<QPushButton>(*s.page, "startScript"), Qt::LeftButton);
        auto* strip = child<RunStrip>(*s.page, "scriptRuns");
        QVERIFY(strip->isVisible());
        QCOMPARE(strip->accessibleDescription(), QStringLiteral("one process: waiting; 2 rank(s): waiting"));
        auto* curves = child<QPushButton>(*s.page, "scriptCurves");
        auto* findings = child<QPushButton>(*s.page, "scriptFindings");
        QVERIFY(!curves->isEnabled());
        s.w.project.finished("single", 2); // a run of somebody else
        const QString single = s.w.project.script(s.w.commands.scripts[0].command.words);
        Q_EMIT s.w.commands.runStarted(single);
        QTRY_VERIFY(curves->isEnabled());
        QCOMPARE(s.w.selection.runA(), single); // already drawn
        QVERIFY(!findings->isEnabled());
        const QString ddp = s.w.project.script(s.w.commands.scripts[1].command.words, 2);
        Q_EMIT s.w.commands.runStarted(ddp);
        QTRY_VERIFY(findings->isEnabled());
        QCOMPARE(s.w.selection.runB(), ddp);
        if (qEnvironmentVariableIsSet("LOCKSTEP_GRAB"))
            s.page->grab().save(qEnvironmentVariable("LOCKSTEP_GRAB") + QStringLiteral("/script.png"));
        s.w.selection.setRuns({}, {});
        QSignalSpy asked(&*s.page, &Page::openRequested);
        QTest::mouseClick(findings, Qt::LeftButton);
        QCOMPARE(asked.first().at(0).toString(), QStringLiteral("findings"));
        QCOMPARE(s.w.selection.runA(), single);
    }

    void aScriptThatDoesNotBeginSaysWhy()
    {
        ScriptWorld s;
        QVERIFY(s.open());
        s.fill();
        s.answer();
        QTest::mouseClick(child<QPushButton>(*s.page, "startScript"), Qt::LeftButton);
        Q_EMIT s.w.commands.failed(QStringLiteral("probe"), QStringLiteral("The probe is missing."));
        QVERIFY(shows(*s.page, QStringLiteral("The probe is missing.")));
        QVERIFY(child<RunStrip>(*s.page, "scriptRuns")
                    ->accessibleDescription()
                    .contains(QStringLiteral("not started")));
    }

    void whatWasEnteredComesBackWithTheProject()
    {
        ScriptWorld s;
        QVERIFY(s.open());
        s.fill();
        const QJsonObject state = s.page->saveState();
        RunsPage other(s.w.context);
        other.restoreState(state);
        QCOMPARE(child<QLineEdit>(other, "scriptSingle")->text(), QStringLiteral("python train.py --lr 1"));
        QCOMPARE(child<QComboBox>(other, "scriptInterpreter")->currentText(), s.python);
        other.restoreState({}); // a session that says nothing
        QCOMPARE(child<QLineEdit>(other, "scriptSingle")->text(), QString());
    }

    void escapeClosesTheFormAndTabWalksItsFields()
    {
        ScriptWorld s;
        QVERIFY(s.open());
        s.fill();
        s.edit("scriptFolder")->setFocus();
        const char* const order[] = {"scriptFolder", "scriptSingle", "scriptDdp", "scriptMetric"};
        std::size_t reached = 0;
        for (int i = 0; i < 30 && reached < std::size(order); ++i) {
            if (QApplication::focusWidget() == s.edit(order[reached]))
                ++reached;
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        }
        QCOMPARE(reached, std::size(order));
        QVERIFY(s.page->escape());
        QVERIFY(!s.page->findChild<ScriptPanel*>()->isVisible());
    }
};

QTEST_MAIN(RunsPageTest)
#include "tst_runs_page.moc"
