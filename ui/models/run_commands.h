// What pages may ask to be done. The window itself neither trains nor writes records: the implementation (app/gui) starts
// lockstep-cli as a program of its own, so a crash of the window costs no run. GUI thread; every call returns at once and
// is answered by one of the signals.
#pragma once

#include "core/config/run_config.h"
#include "core/config/run_extras.h"

#include <QObject>
#include <QStringList>

namespace lockstep {

// A user's script as a run.
struct ScriptRun {
    QString name; // empty: the script's
    ScriptCommand command;
};

// What an interpreter says of itself.
struct InterpreterFacts {
    QString path;
    QString python, torch; // versions
    QString error;         // a sentence; empty: torch can be imported and is new enough
};

// The words of the command line for a word of `run --on-loss`; none for "stop".
inline QStringList onLossWords(const std::string& word)
{
    return word == "stop" ? QStringList()
                          : QStringList{QStringLiteral("--on-loss"), QString::fromStdString(word)};
}

class RunCommands : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    // The project that the following calls are about.
    virtual void setProjectFolder(const QString& folder) = 0;

    virtual void createProject(const QString& folder, const QString& workload) = 0; // -> projectCreated
    // -> runStarted or failed("run") with the number that is returned: several may be asked for at once.
    virtual int startRun(const RunConfig& config) = 0;
    // With further words of the command line that are no part of the configuration.
    virtual int startRunWith(const RunConfig& config, const QStringList&) { return startRun(config); }
    // One after the other: each begins when the one before it has finished, also if the window is closed by then.
    // -> runStarted for each as it begins; failed("probe") for the first that does not.
    virtual void startScripts(const QList<ScriptRun>& scripts) = 0;
    virtual void checkInterpreter(const QString& path) = 0; // -> interpreterChecked
    virtual void stopRun(const QString& runId) = 0;         // SIGTERM: finish the step, save, exit 143
    virtual void removeRun(const QString& runId) = 0;       // -> runRemoved
    virtual void restoreRun(const QString& runId) = 0;      // takes removeRun back -> runRestored
    // phase: preflight | data | gradients | precision | drills.
    virtual void judgeGate(const QString& phase) = 0; // -> gateJudged
    // With further words of the command line: the fix of a cause, or another plan.
    virtual void judgeGateWith(const QString& phase, const QStringList&) { judgeGate(phase); }
    virtual void overrideGate(const QString& phase, const QString& reason) = 0; // empty reason: take it back
    // Makes runs of logs of other tools. -> logsImported or failed("import")
    virtual void importLogs(const QStringList& paths) = 0;
    // Why `runB` parts from `runA`; `prove`: by replaying the suspected causes. The findings go to the project.
    virtual void diagnose(const QString& runA, const QString& runB, bool prove) = 0; // -> diagnosed
    // Where causes of their findings are the same bits: makes the short pair of runs that tells them apart, diagnoses that
    // and enters what remains. -> diagnosed, or failed("diagnose")
    virtual void separate(const QString& runA, const QString& runB) = 0;
    // A word of core/gates/drill_plan.h, or "degrade". Recorded as runs of the project.
    virtual void playDrill(const QString& kind) = 0; // -> drillPlayed
    // The ending says the form: .html, .md, .json, .xml.
    virtual void writeReport(const QString& path) = 0; // -> reportWritten

    // The same call as a command line, for "Copy command".
    virtual QString commandLine(const RunConfig& config) const = 0;
    virtual QString scriptLine(const ScriptRun& script) const = 0;

    // Commands in flight; pages show progress from 0.5 s on.
    virtual int pending() const = 0;
    virtual void cancelPending() = 0;

Q_SIGNALS:
    void projectCreated(const QString& folder);
    void runStarted(const QString& runId, int call = 0); // 0: of startScripts
    void interpreterChecked(const lockstep::InterpreterFacts& facts);
    void runRemoved(const QString& runId);
    void runRestored(const QString& runId);
    void gateStarted(const QString& phase);
    void gateJudged(const QString& phase);
    // `problems`: a sentence for each damaged place of the logs.
    void logsImported(const QStringList& runIds, const QStringList& problems);
    void diagnosed();
    void drillPlayed(const QString& kind);
    void reportWritten(const QString& path);
    void pendingChanged(int pending);
    // `command` is the word of the call ("run", "stop", "remove", ...); `sentence` says what, why and what to do.
    // `call`: the number of startRun, 0 of other calls.
    void failed(const QString& command, const QString& sentence, int call = 0);
};

} // namespace lockstep
