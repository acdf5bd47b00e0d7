#include "ui/window/main_menu.h"

#include "ui/models/format.h"
#include "ui/models/run_repeat.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/theme.h"
#include "ui/window/go_to_box.h"
#include "ui/window/keys_panel.h"
#include "ui/window/main_window.h"
#include "ui/window/page_registry.h"

#include <QCoreApplication>
#include <QMenu>
#include <QMenuBar>
#include <QSettings>
#include <QUndoStack>

#include <algorithm>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::MainMenu)
};

template<typename Do>
QAction* add(QMenu* menu, const QString& text, const QKeySequence& key, QObject* context, Do what)
{
    QAction* action = menu->addAction(text);
    action->setShortcut(key);
    QObject::connect(action, &QAction::triggered, context, what);
    return action;
}

} // namespace

QMenu* MainMenu::install(MainWindow& w)
{
    QMenuBar* bar = w.menuBar();
    const auto current = [&w] { return w.pages_.value(w.currentId_); };

    QMenu* file = bar->addMenu(Tr::tr("&File"));
    add(file, Tr::tr("&Open project folder"), QKeySequence::Open, &w, [&w] { w.chooseProject(); });
    QMenu* recent = file->addMenu(Tr::tr("Open &recent"));
    QObject::connect(recent, &QMenu::aboutToShow, &w, [&w, recent] {
        recent->clear();
        for (const QString& folder : QSettings().value(QStringLiteral("recentProjects")).toStringList()) {
            QAction* action = recent->addAction(formatFolder(folder));
            QObject::connect(action, &QAction::triggered, &w, [&w, folder] { w.openProject(folder); });
        }
        if (recent->isEmpty())
            recent->addAction(Tr::tr("None yet"))->setEnabled(false);
    });
    QAction* importLogs = add(file, Tr::tr("&Import logs"), {}, &w, [&w] { w.chooseLogs(); });
    QAction* closeProject = add(file, Tr::tr("&Close project"), QKeySequence(Qt::CTRL | Qt::Key_W), &w, [&w] {
        w.saveSession();
        w.project_.close();
    });
    file->addSeparator();
    add(file, Tr::tr("&Quit"), QKeySequence::Quit, &w, [&w] { w.close(); });

    QMenu* edit = bar->addMenu(Tr::tr("&Edit"));
    QAction* undo = w.undo_->createUndoAction(&w, Tr::tr("&Undo"));
    undo->setShortcut(QKeySequence::Undo);
    QAction* redo = w.undo_->createRedoAction(&w, Tr::tr("&Redo"));
    redo->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z));
    edit->addAction(undo);
    edit->addAction(redo);
    edit->addSeparator();
    add(edit, Tr::tr("&Go to"), QKeySequence(Qt::CTRL | Qt::Key_K), &w, [&w] {
        w.goTo_->setFocus();
        w.goTo_->selectAll();
    });

    QMenu* view = bar->addMenu(Tr::tr("&View"));
    QList<QAction*> needProject{importLogs, closeProject};
    for (const bool phases : {false, true}) {
        for (const PageEntry& entry : pageEntries()) {
            if (entry.phase != phases)
                continue;
            const QKeySequence key =
                entry.altKey == 0
                    ? QKeySequence()
                    : QKeySequence((phases ? Qt::CTRL : Qt::ALT) | Qt::Key(Qt::Key_0 + entry.altKey));
            QString text = pageTitle(entry);
            text.replace(QLatin1Char('&'), QStringLiteral("&&"));
            QAction* action =
                add(view, text, key, &w, [&w, id = QString::fromLatin1(entry.id)] { w.openPage(id); });
            if (!entry.withoutProject)
                needProject << action;
        }
        view->addSeparator();
    }
    add(view, Tr::tr("&Panel at the right"), QKeySequence(Qt::Key_F4), &w, [current] {
        if (Page* page = current())
            page->togglePanel();
    });
    QMenu* look = view->addMenu(Tr::tr("&Theme"));
    add(look, Tr::tr("&Light"), {}, &w, [&w] { Q_EMIT w.themeChosen(QStringLiteral("light")); });
    add(look, Tr::tr("&Dark"), {}, &w, [&w] { Q_EMIT w.themeChosen(QStringLiteral("dark")); });
    QMenu* language = view->addMenu(Tr::tr("L&anguage"));
    add(language, QStringLiteral("English"), {}, &w, [&w] { Q_EMIT w.languageChosen(QStringLiteral("en")); });
    add(language, QStringLiteral("\u7b80\u4f53\u4e2d\u6587"), {}, &w,
        [&w] { Q_EMIT w.languageChosen(QStringLiteral("zh_CN")); });

    QMenu* run = bar->addMenu(Tr::tr("&Run"));
    needProject << add(run, Tr::tr("&New run"), QKeySequence(Qt::Key_F5), &w,
                       [&w] { w.openPage(QStringLiteral("runs"), QStringLiteral("new")); });
    needProject << add(run, Tr::tr("Use &my script"), QKeySequence(Qt::SHIFT | Qt::Key_F5), &w,
                       [&w] { w.openPage(QStringLiteral("runs"), QStringLiteral("script")); });
    QAction* stop = add(run, Tr::tr("&Stop newest running run"), {}, &w, [&w] {
        for (const RunEntry& entry : w.project_.snapshot()->runs)
            if (entry.running()) {
                w.commands_.stopRun(entry.id());
                return;
            }
    });
    QAction* again = add(run, Tr::tr("Run newest &again"), {}, &w, [&w] {
        const ProjectSnapshotPtr snapshot = w.project_.snapshot();
        const auto newest = std::find_if(snapshot->runs.begin(), snapshot->runs.end(),
                                         [](const RunEntry& run) { return !run.auxiliary(); });
        if (newest != snapshot->runs.end())
            repeatRun(w.commands_, *newest);
    });
    needProject << stop << again;

    QMenu* compare = bar->addMenu(Tr::tr("&Compare"));
    needProject << add(compare, Tr::tr("&Curves of A and B"), {}, &w,
                       [&w] { w.openPage(QStringLiteral("curves")); });
    needProject << add(compare, Tr::tr("First &divergent step"), QKeySequence(Qt::Key_D), &w, [&w] {
        if (w.currentId_ != QLatin1String("curves"))
            w.openPage(QStringLiteral("curves"));
        if (Page* page = w.pages_.value(QStringLiteral("curves")))
            page->jumpToDivergence();
    });
    needProject << add(compare, Tr::tr("Next y &scale"), QKeySequence(Qt::Key_L), &w, [current] {
        if (Page* page = current())
            page->nextScale();
    });

    QMenu* help = bar->addMenu(Tr::tr("&Help"));
    add(help, Tr::tr("&Keys"), QKeySequence(Qt::Key_F1), &w, [&w] { w.keys_->toggle(); });

    QAction* escape = new QAction(&w);
    escape->setShortcut(QKeySequence(Qt::Key_Escape));
    w.addAction(escape);
    QObject::connect(escape, &QAction::triggered, &w, [&w] { w.escape(); });

    const auto enable = [&w, needProject] {
        for (QAction* action : needProject)
            action->setEnabled(w.project_.isOpen());
    };
    QObject::connect(&w.project_, &ProjectModel::opened, &w, enable);
    QObject::connect(&w.project_, &ProjectModel::closed, &w, enable);
    enable();
    return file;
}

} // namespace lockstep
