// RunCommands by the program lockstep-cli, each call a process in a session of its own. `run --detach` answers at once
// with the name of the run and goes on without the window; everything else is short or writes its result to the project.
#pragma once

#include "ui/models/query_jobs.h"
#include "ui/models/run_commands.h"

#include <QHash>
#include <QProcess>

#include <functional>

namespace lockstep {

class CliCommands : public RunCommands
{
    Q_OBJECT

public:
    explicit CliCommands(QObject* parent = nullptr);
    ~CliCommands() override;

    void setProjectFolder(const QString& folder) override { folder_ = folder; }
    void createProject(const QString& folder, const QString& workload) override;
    int startRun(const RunConfig& config) override { return startRunWith(config, {}); }
    int startRunWith(const RunConfig& config, const QStringList& words) override;
    void startScripts(const QList<ScriptRun>& scripts) override { startScript(scripts, {}); }
    void checkInterpreter(const QString& path) override;
    void stopRun(const QString& runId) override;
    void removeRun(const QString& runId) override;
    void restoreRun(const QString& runId) override;
    void judgeGate(const QString& phase) override;
    void judgeGateWith(const QString& phase, const QStringList& words) override;
    void overrideGate(const QString& phase, const QString& reason) override;
    void importLogs(const QStringList& paths) override;
    void diagnose(const QString& runA, const QString& runB, bool prove) override;
    void separate(const QString& runA, const QString& runB) override;
    void playDrill(const QString& kind) override;
    void writeReport(const QString& path) override;
    QString commandLine(const RunConfig& config) const override;
    QString scriptLine(const ScriptRun& script) const override;
    int pending() const override { return int(running_.size() - waiting_.size()); }
    void cancelPending() override;

private:
    // `done` gets the exit code and standard output; on an exit code above `mostAllowed` failed() is emitted instead, with
    // `call`.
    using Done = std::function<void(int exitCode, const QByteArray& output)>;
    void run(const QString& command, const QStringList& arguments, int mostAllowed, Done done,
             const QString& workingFolder = {}, bool waits = false, int call = 0);
    void startScript(QList<ScriptRun> scripts, const QString& after);
    void runBegan(const QString& command, const QByteArray& answer, int call,
                  const std::function<void(const QString& id)>& then);
    void changeStore(const QString& runId, bool remove);

    QString folder_;
    int calls_ = 0; // of startRun
    QList<QProcess*> running_;
    // Of running_: those that wait for another run's end. They are nothing to look at and no part of what Cancel means; to
    // stop that run ends them.
    QList<QProcess*> waiting_;
    QueryJobs jobs_;
};

} // namespace lockstep
