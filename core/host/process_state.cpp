#include "core/host/process_state.h"

#include <QDir>
#include <QFile>

namespace lockstep {

bool isStopped(std::int64_t pid)
{
    QFile stat(QStringLiteral("/proc/%1/stat").arg(pid));
    if (pid <= 0 || !stat.open(QIODevice::ReadOnly))
        return false;
    // The program's name may hold blanks and parentheses; the state stands behind the last one.
    const QByteArray text = stat.readAll();
    const qsizetype name = text.lastIndexOf(')');
    return name > 0 && text.size() > name + 2 && text.at(name + 2) == 'T';
}

std::vector<std::int64_t> processesOfRun(const std::string& runFolder)
{
    const QByteArray marker = QByteArrayLiteral("LOCKSTEP_RUN_DIR=") + QByteArray::fromStdString(runFolder);
    std::vector<std::int64_t> found;
    for (const QString& pid :
         QDir(QStringLiteral("/proc")).entryList({QStringLiteral("[0-9]*")}, QDir::Dirs)) {
        QFile environment(QStringLiteral("/proc/%1/environ").arg(pid));
        if (environment.open(QIODevice::ReadOnly) && environment.readAll().split('\0').contains(marker))
            found.push_back(pid.toLongLong());
    }
    return found;
}

} // namespace lockstep
