// Shown while no project is open: three ways in (open, drop, start a built-in workload), what this machine can do, and the
// projects opened before.
#pragma once

#include <QStringList>
#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QVBoxLayout;

namespace lockstep {

class Banner;
class DataTable;
class RunCommands;
class WorkloadsModel;

class StartPage : public QWidget
{
    Q_OBJECT

public:
    StartPage(RunCommands& commands, WorkloadsModel& workloads, QWidget* parent = nullptr);
    void setRecentProjects(const QStringList& folders);
    // What this machine offers: "engine: torch 2.15.0", ...; `false`: not offered, with the reason.
    void setEnvironment(const QList<std::pair<bool, QString>>& facts);
    void showError(const QString& sentence);
    void focusFirst();

Q_SIGNALS:
    void openRequested(); // Ctrl+O
    void openFolderRequested(const QString& folder);
    // A new project in `folder` that starts this workload in one process and with `ranks` ranks at once.
    void startRequested(const QString& workload, const QString& folder, int ranks);
    // A new project in `folder` for a script of the user's own.
    void scriptRequested(const QString& folder);

private:
    QWidget* makeDropZone();
    QWidget* makeWorkloads();
    QWidget* makeScript();
    void suggestFolder();

    RunCommands& commands_;
    WorkloadsModel& workloads_;
    Banner* banner_;
    QPushButton *open_, *start_;
    DataTable* table_;
    QComboBox* ranks_;
    QLineEdit* folder_;
    QVBoxLayout* recent_;
    QWidget* facts_;
};

} // namespace lockstep
