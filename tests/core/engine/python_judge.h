// Runs one of the judges in python/ with the Python of .venv, which brings torch.
#pragma once

#include <QFile>
#include <QProcess>
#include <QtTest>

namespace lockstep {

inline bool hasJudge()
{
    return QFile::exists(QStringLiteral(LOCKSTEP_VENV_PYTHON));
}

// The long list of cases where this variable of the environment is set.
inline QStringList campaign(const char* variable)
{
    return qEnvironmentVariableIsSet(variable) ? QStringList{QStringLiteral("--campaign")} : QStringList{};
}

// `script` gets the worker as its first argument; its output goes through. True if it ended with 0.
inline bool judge(const QString& script, const QStringList& arguments = {})
{
    QProcess process;
    process.setProcessChannelMode(QProcess::ForwardedChannels);
    process.start(
        QStringLiteral(LOCKSTEP_VENV_PYTHON),
        QStringList{QStringLiteral(LOCKSTEP_ENGINE_PYTHON "/") + script, QStringLiteral(LOCKSTEP_WORKER)} +
            arguments);
    return process.waitForFinished(-1) && process.exitStatus() == QProcess::NormalExit &&
           process.exitCode() == 0;
}

} // namespace lockstep
