// The dashboard in an X session of a test, worked by keys as a person works it.
#pragma once

#include "core/store/project_store.h"
#include "x_session.h"

#include <QJsonObject>
#include <QRect>

#include <vector>

namespace lockstep::test {

// Path of one of our programs (build/bin).
QString program(const char* name);
// Empty: all three programs are built. Otherwise the reason to skip.
QString missingProgram();

// Starts the session on a screen of the size, with a folder for pictures and the settings kept in `folder`. Empty: ready.
// Otherwise the reason to skip.
QString prepareSession(XSession& session, const QSize& screen, const QString& folder);

class DrivenWindow
{
public:
    DrivenWindow(XSession& session, const QString& project) : session_(session), project_(project) {}

    // Starts the program and waits for its window; false: none came.
    bool open(const QStringList& more = {});
    QProcess* process() const { return process_; }
    // Waits for a second window of the program with this title and gives it the keyboard; false: none came.
    bool toDialog(const QString& title);
    void toMainWindow() { session_.focus(window_); }
    // Where the widget with this object name is on the screen, scrolled into view; `row`: of a list. Waits until it can be
    // used; empty: it cannot after ten seconds.
    QRect place(const char* name, int row = -1);
    // With the mouse, in its middle; false: there is no such place.
    bool click(const char* name, int row = -1);
    // SIGKILL, and the end of it.
    bool kill();
    // Ctrl+Q, then what the window left behind; empty: it did not end with 0.
    QJsonObject close();

    // Fills in the form of a new run and presses Start run.
    void startRun(const QString& mode, const QString& steps, const QString& fault = {});
    // Up to the pressed key: the moment after which a run may exist.
    void fillInRun(const QString& mode, const QString& steps, const QString& fault = {});

private:
    void tabs(int count);

    XSession& session_;
    QString project_;
    QProcess* process_ = nullptr; // owned by the session
    qulonglong window_ = 0;
};

// The project's runs, newest first, as its store has them.
std::vector<RunInfo> runsOf(const QString& project);
// Its gates; the one of this phase, without a phase where there is none.
std::vector<GateInfo> gatesOf(const QString& project);
GateInfo gateOf(const QString& project, const std::string& phase);
// lockstep-cli with these words, the project behind the first; its exit code, -1: not within a minute.
int runCli(const QString& project, QStringList words);

} // namespace lockstep::test
