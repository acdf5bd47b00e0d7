// Python's torch as a judge of what was written or read.
#pragma once

#include <QFile>
#include <QProcess>
#include <QString>

namespace lockstep {

// The Python of ./dev setup; empty if there is none: the test is then skipped.
inline QString pythonWithTorch()
{
    const QString venv = QStringLiteral(LOCKSTEP_VENV_PYTHON);
    return QFile::exists(venv) ? venv : QString();
}

// Runs a script to its end and gives what it printed, errors included, without the last line break.
inline QByteArray runPython(const char* script, const QByteArray& input = {},
                            const QStringList& arguments = {})
{
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(pythonWithTorch(),
                  QStringList{QStringLiteral("-Wignore"), QStringLiteral("-c"), QString::fromUtf8(script)} +
                      arguments);
    process.write(input);
    process.closeWriteChannel();
    process.waitForFinished(900'000);
    return process.readAll().trimmed();
}

} // namespace lockstep
