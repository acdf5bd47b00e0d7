// "Use my script" on the Runs page: what it checks while it is filled in, what it starts, and which interpreter it may ask.
#include "ui/pages/runs_page.h"
#include "ui/pages/script_panel.h"
#include "ui/support/page_world.h"
#include "ui/widgets/run_strip.h"
#include "ui/widgets/theme.h"

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace lockstep;
using namespace lockstep::test;

namespace {

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

class ScriptPanelTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { theme::apply(*qApp, ThemeKind::Light); }

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

QTEST_MAIN(ScriptPanelTest)
#include "tst_script_panel.moc"
