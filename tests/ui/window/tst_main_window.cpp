// The window as a whole, offscreen: places, keys, session, projects that cannot be opened.
#include "ui/models/roles.h"
#include "ui/pages/page.h"
#include "ui/pages/start_page.h"
#include "ui/support/fake_commands.h"
#include "ui/support/project_fixture.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/theme.h"
#include "ui/window/go_to_box.h"
#include "ui/window/keys_panel.h"
#include "ui/window/main_window.h"
#include "ui/window/page_registry.h"
#include "ui/window/rail.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDropEvent>
#include <QFile>
#include <QListView>
#include <QMimeData>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace lockstep;
using namespace lockstep::test;

namespace {

bool opened(MainWindow& window, const QString& folder)
{
    window.show();
    window.openProject(folder);
    return QTest::qWaitForWindowExposed(&window) &&
           QTest::qWaitFor([&] { return window.project().isOpen() && !window.currentPage().isEmpty(); });
}

} // namespace

class MainWindowTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("lockstep-test"));
        QSettings().clear();
        theme::apply(*qApp, ThemeKind::Light);
    }

    // A log becomes a run; what is no log is taken for a checkpoint.
    void aDroppedLogIsImported()
    {
        QTemporaryDir folder;
        const auto write = [&](const QString& name, const QByteArray& bytes) {
            QFile file(folder.filePath(name));
            const bool ok = file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
            return ok ? file.fileName() : QString();
        };
        const QString log = write(QStringLiteral("a.txt"), "step:  1  loss:  0.5\n");
        const QString csv = write(QStringLiteral("b.csv"), "step,loss\n1,2\n");
        const QString other = write(QStringLiteral("c.txt"), "no log\n");
        const auto drop = [](MainWindow& window, const QStringList& paths) {
            QMimeData data;
            QList<QUrl> urls;
            for (const QString& path : paths)
                urls << QUrl::fromLocalFile(path);
            data.setUrls(urls);
            // Qt drops on whatever the drag entered.
            QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
            QApplication::sendEvent(&window, &enter);
            QDropEvent event(QPointF(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
            QApplication::sendEvent(&window, &event);
        };
        FakeCommands commands;
        MainWindow window(commands);
        drop(window, {log}); // no project is open
        QVERIFY(commands.calls.filter(QStringLiteral("import")).isEmpty());
        ProjectFixture project;
        QVERIFY(opened(window, project.folder()));
        drop(window, {log, csv});
        QCOMPARE(commands.calls.filter(QStringLiteral("import")),
                 QStringList{QStringLiteral("import %1 %2").arg(log, csv)});
        drop(window, {other});
        QCOMPARE(commands.calls.filter(QStringLiteral("import")).size(), 1);
        QCOMPARE(window.currentPage(), QStringLiteral("checkpoints"));
    }

    void withoutAProjectItOffersWaysIn()
    {
        FakeCommands commands;
        MainWindow window(commands);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        QVERIFY(window.startPage().isVisible());
        auto* start = window.findChild<QPushButton*>(QStringLiteral("startWorkload"));
        QCOMPARE(start->text(), QStringLiteral("Start toy-mlp"));
        QTest::mouseClick(start, Qt::LeftButton);
        QVERIFY(commands.calls.last().startsWith(QStringLiteral("create ")));
        QVERIFY(commands.calls.last().endsWith(QStringLiteral(" toy-mlp")));
        window.openPage(QStringLiteral("curves")); // needs a project
        QVERIFY(window.startPage().isVisible());
        window.openPage(QStringLiteral("checkpoints")); // does not
        QCOMPARE(window.currentPage(), QStringLiteral("checkpoints"));
    }

    void aProjectForAScriptOpensItsForm()
    {
        FakeCommands commands;
        MainWindow window(commands);
        window.setRemembering(false);
        window.show();
        QTest::mouseClick(window.findChild<QPushButton*>(QStringLiteral("startScriptProject")),
                          Qt::LeftButton);
        QVERIFY(commands.calls.last().startsWith(QStringLiteral("create ")));
        ProjectFixture project; // as the command would have made it
        Q_EMIT commands.projectCreated(project.folder());
        QTRY_COMPARE(window.currentPage(), QStringLiteral("runs"));
        QVERIFY(window.findChild<QWidget*>(QStringLiteral("scriptPanel"))->isVisible());
        QVERIFY(commands.started.empty());
    }

    void theNewestRunIsRunAgainAsItWasStarted()
    {
        ProjectFixture project;
        project.script({"python", "train.py"});
        project.finished("single", 2, 0, 0, [](RunConfig& c) { c.name = "gate-gradients-baseline"; });
        FakeCommands commands;
        MainWindow window(commands);
        window.setRemembering(false);
        window.show();
        window.openProject(project.folder());
        QTRY_COMPARE(window.currentPage(), QStringLiteral("overview"));
        for (QAction* action : window.findChildren<QAction*>())
            if (action->text() == QStringLiteral("Run newest &again"))
                action->trigger();
        QVERIFY(commands.started.empty()); // neither the gate's run nor the engine
        QCOMPARE(commands.scripts.size(), 1);
    }

    void everyPageOpensByItsKey()
    {
        ProjectFixture project;
        project.finished("single", 2);
        FakeCommands commands;
        MainWindow window(commands);
        QVERIFY(opened(window, project.folder()));
        QCOMPARE(window.currentPage(), QStringLiteral("overview"));
        for (const PageEntry& entry : pageEntries()) {
            if (entry.altKey == 0)
                continue;
            QTest::keyClick(&window, Qt::Key(Qt::Key_0 + entry.altKey),
                            entry.phase ? Qt::ControlModifier : Qt::AltModifier);
            QCOMPARE(window.currentPage(), QString::fromLatin1(entry.id));
            QVERIFY(window.page(window.currentPage())->isVisible());
        }
        QTest::keyClick(&window, Qt::Key_F5);
        QCOMPARE(window.currentPage(), QStringLiteral("runs"));
    }

    void theRailLeadsToEveryPlace()
    {
        ProjectFixture project;
        FakeCommands commands;
        MainWindow window(commands);
        QVERIFY(opened(window, project.folder()));
        auto* rail = window.findChild<Rail*>();
        for (const char* name : {"phaseList", "pageList"}) {
            auto* list = rail->findChild<QListView*>(QString::fromLatin1(name));
            for (int row = 0; row < list->model()->rowCount(); ++row) {
                const QModelIndex index = list->model()->index(row, 0);
                QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualRect(index).center());
                QCOMPARE(window.currentPage(), index.data(IdRole).toString());
            }
        }
    }

    void narrowWindowsKeepTheShapesOfTheRail()
    {
        FakeCommands commands;
        MainWindow window(commands);
        window.show();
        auto* rail = window.findChild<Rail*>();
        window.resize(1600, 1000);
        QTRY_COMPARE(rail->width(), 216);
        window.resize(1280, 720);
        QTRY_COMPARE(rail->width(), 48);
    }

    void goToFindsPagesRunsAndSteps()
    {
        ProjectFixture project;
        const QString run = project.finished("single", 2);
        FakeCommands commands;
        MainWindow window(commands);
        QVERIFY(opened(window, project.folder()));
        auto* box = window.findChild<GoToBox*>();
        QTest::keyClick(&window, Qt::Key_K, Qt::ControlModifier);
        QTRY_VERIFY(box->hasFocus());
        QSignalSpy chosen(box, &GoToBox::chosen);
        box->setText(QStringLiteral("runs"));
        QTest::keyClick(box, Qt::Key_Return);
        QVERIFY(window.currentPage() == QStringLiteral("runs"));
        box->setText(QStringLiteral("step 12"));
        QTest::keyClick(box, Qt::Key_Return);
        QCOMPARE(chosen.last().at(1).toString(), QStringLiteral("step:12"));
        QCOMPARE(window.currentPage(), QStringLiteral("curves"));
        box->setText(run);
        QTest::keyClick(box, Qt::Key_Return);
        QCOMPARE(chosen.last().at(1).toString(), QStringLiteral("run:") + run);
    }

    void lettersInAListOfChoicesChooseThere()
    {
        ProjectFixture project;
        FakeCommands commands;
        MainWindow window(commands);
        QVERIFY(opened(window, project.folder()));
        QTest::keyClick(&window, Qt::Key_F5);
        auto* mode = window.findChild<QComboBox*>(QStringLiteral("mode"));
        QCOMPARE(mode->currentText(), QStringLiteral("single"));
        QTRY_VERIFY(mode->hasFocus());
        QTest::keyClick(mode, Qt::Key_D);
        QCOMPARE(window.currentPage(), QStringLiteral("runs"));
        QCOMPARE(mode->currentText(), QStringLiteral("ddp"));
    }

    void keysAreACardNotADialog()
    {
        FakeCommands commands;
        MainWindow window(commands);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        auto* keys = window.findChild<KeysPanel*>();
        QTest::keyClick(&window, Qt::Key_F1);
        QVERIFY(keys->isVisible());
        QVERIFY(!QApplication::activeModalWidget());
        QTest::keyClick(&window, Qt::Key_Escape);
        QVERIFY(!keys->isVisible());
    }

    void theSessionBringsBackPageAndSelection()
    {
        ProjectFixture project;
        const QString a = project.finished("single", 2);
        const QString b = project.finished("ddp", 2);
        FakeCommands commands;
        {
            MainWindow window(commands);
            QVERIFY(opened(window, project.folder()));
            window.openPage(QStringLiteral("runs"));
            window.selection().setRuns(a, b);
            window.close();
        }
        QVERIFY(QFile::exists(project.folder() + QStringLiteral("/session.json")));
        MainWindow window(commands);
        QVERIFY(opened(window, project.folder()));
        QCOMPARE(window.currentPage(), QStringLiteral("runs"));
        QCOMPARE(window.selection().runA(), a);
        QCOMPARE(window.selection().runB(), b);
    }

    void aDamagedSessionIsIgnored()
    {
        ProjectFixture project;
        QFile file(project.folder() + QStringLiteral("/session.json"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("{\"window\": [1, {\"page\"");
        file.close();
        FakeCommands commands;
        MainWindow window(commands);
        QVERIFY(opened(window, project.folder()));
        QCOMPARE(window.currentPage(), QStringLiteral("overview"));
    }

    void aProjectThatCannotBeOpenedIsExplainedOnTheStartPage()
    {
        FakeCommands commands;
        MainWindow window(commands);
        window.show();
        window.openProject(QStringLiteral("/nowhere/at/all"));
        auto* banner = window.startPage().findChild<Banner*>();
        QTRY_VERIFY(banner->isVisible());
        QVERIFY(banner->headline().contains(QStringLiteral("/nowhere/at/all")));
    }

    void bothThemesPaintEveryPage()
    {
        ProjectFixture project;
        project.finished("single", 2);
        project.finished("ddp", 2);
        FakeCommands commands;
        MainWindow window(commands);
        window.setRemembering(false);
        QVERIFY(opened(window, project.folder()));
        for (const ThemeKind kind : {ThemeKind::Dark, ThemeKind::Light}) {
            theme::apply(*qApp, kind);
            for (const PageEntry& entry : pageEntries()) {
                window.openPage(QString::fromLatin1(entry.id));
                const QImage picture = window.grab().toImage();
                const QColor ground = picture.pixelColor(picture.width() - 30, 130);
                QVERIFY2((ground.lightness() < 128) == (kind == ThemeKind::Dark), entry.id);
            }
        }
    }
};

QTEST_MAIN(MainWindowTest)
#include "tst_main_window.moc"
