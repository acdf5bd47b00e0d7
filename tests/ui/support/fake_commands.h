// RunCommands that only write down what they were asked.
#pragma once

#include "ui/models/run_commands.h"

#include <vector>

namespace lockstep::test {

class FakeCommands : public RunCommands
{
    Q_OBJECT

public:
    using RunCommands::RunCommands;

    void setProjectFolder(const QString& folder) override { calls << QStringLiteral("folder ") + folder; }
    void createProject(const QString& folder, const QString& workload) override
    {
        calls << QStringLiteral("create %1 %2").arg(folder, workload);
    }
    int startRun(const RunConfig& config) override
    {
        calls << QStringLiteral("start");
        started.push_back(config);
        return int(started.size());
    }
    int startRunWith(const RunConfig& config, const QStringList& words) override
    {
        const int call = startRun(config);
        if (!words.isEmpty())
            calls << QStringLiteral("with ") + words.join(QLatin1Char(' '));
        return call;
    }
    void startScripts(const QList<ScriptRun>& runs) override
    {
        calls << QStringLiteral("scripts %1").arg(runs.size());
        scripts = runs;
    }
    void checkInterpreter(const QString& path) override { calls << QStringLiteral("interpreter ") + path; }
    QString scriptLine(const ScriptRun& script) const override
    {
        QStringList words;
        for (const std::string& word : script.command.words)
            words << QString::fromStdString(word);
        return QStringLiteral("lockstep-cli probe -- ") + words.join(QLatin1Char(' '));
    }
    void stopRun(const QString& id) override { calls << QStringLiteral("stop ") + id; }
    void removeRun(const QString& id) override { calls << QStringLiteral("remove ") + id; }
    void restoreRun(const QString& id) override { calls << QStringLiteral("restore ") + id; }
    void judgeGate(const QString& phase) override { calls << QStringLiteral("judge ") + phase; }
    void judgeGateWith(const QString& phase, const QStringList& words)
    {
        calls << QStringLiteral("judge %1 %2").arg(phase, words.join(QLatin1Char(' ')));
    }
    void overrideGate(const QString& phase, const QString& reason) override
    {
        calls << QStringLiteral("override %1: %2").arg(phase, reason);
    }
    void importLogs(const QStringList& paths) override
    {
        calls << QStringLiteral("import ") + paths.join(QLatin1Char(' '));
    }
    void diagnose(const QString& a, const QString& b, bool prove) override
    {
        calls << QStringLiteral("diagnose %1 %2%3").arg(a, b, prove ? QStringLiteral(" prove") : QString());
    }
    void separate(const QString& a, const QString& b) override
    {
        calls << QStringLiteral("separate %1 %2").arg(a, b);
    }
    void playDrill(const QString& kind) override { calls << QStringLiteral("drill ") + kind; }
    void writeReport(const QString& path) override { calls << QStringLiteral("report ") + path; }
    QString commandLine(const RunConfig& config) const override
    {
        return QStringLiteral("lockstep-cli run --mode ") + QString::fromStdString(config.mode);
    }
    int pending() const override { return 0; }
    void cancelPending() override { calls << QStringLiteral("cancel"); }

    QStringList calls;
    std::vector<RunConfig> started; // the call of startRun with number n is the n-th
    QList<ScriptRun> scripts;
};

} // namespace lockstep::test
