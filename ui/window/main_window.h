// The window only composes: rail, pages, menu, status bar, session. Pages are made when they are first opened.
#pragma once

#include "ui/models/comparison_model.h"
#include "ui/models/gates_model.h"
#include "ui/models/project_model.h"
#include "ui/models/run_commands.h"
#include "ui/models/run_selection.h"
#include "ui/models/runs_model.h"
#include "ui/models/workloads_model.h"
#include "ui/window/session.h"

#include <QHash>
#include <QMainWindow>

class QLabel;
class QStackedWidget;
class QUndoStack;

namespace lockstep {

class GoToBox;
class KeysPanel;
class Page;
class Rail;
class StartPage;
struct PageContext;

class MainWindow : public QMainWindow
{
    Q_OBJECT

public:
    // `commands` must outlive the window.
    explicit MainWindow(RunCommands& commands, QWidget* parent = nullptr);
    ~MainWindow() override;

    void openProject(const QString& folder);
    void openPage(const QString& id, const QString& argument = {});
    QString currentPage() const { return currentId_; }
    Page* page(const QString& id); // made if necessary; nullptr for an unknown id
    bool busy() const;             // something is still being read
    ProjectModel& project() { return project_; }
    RunSelection& selection() { return selection_; }
    StartPage& startPage() { return *start_; }
    // Off for screenshots and tests: nothing is written to session.json or the list of recent projects.
    void setRemembering(bool on) { remembering_ = on; }

Q_SIGNALS:
    void themeChosen(const QString& theme);       // "light", "dark"
    void languageChosen(const QString& language); // "en", "zh_CN"; takes effect at the next start
    void usable();                                // first paint of the first page

protected:
    void closeEvent(QCloseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    friend class MainMenu;

    void projectOpened();
    void projectClosed();
    void snapshotChanged(const ProjectSnapshotPtr& snapshot);
    void restoreSession();
    void saveSession();
    void rememberProject(const QString& folder);
    void chooseProject();
    void importLogs(const QStringList& paths);
    void chooseLogs();
    void logsImported(const QStringList& runs, const QStringList& problems);
    void startWorkload(const QString& workload, const QString& folder, int ranks);
    void escape();
    void updateStatus();

    RunCommands& commands_;
    ProjectModel project_;
    RunsModel runs_;
    GatesModel gates_;
    ComparisonModel comparisons_;
    RunSelection selection_;
    WorkloadsModel workloads_;
    QUndoStack* undo_;
    std::unique_ptr<PageContext> context_;
    Session session_;
    bool remembering_ = true;

    Rail* rail_;
    QStackedWidget* stack_;
    StartPage* start_;
    KeysPanel* keys_;
    GoToBox* goTo_;
    QLabel *writer_, *size_, *message_;
    QString problem_; // why the open project cannot be read; empty: it can
    QHash<QString, Page*> pages_;
    QString currentId_;
    std::vector<RunConfig> startAfterCreate_;
    bool scriptAfterCreate_ = false; // the form for a script comes first
};

} // namespace lockstep
