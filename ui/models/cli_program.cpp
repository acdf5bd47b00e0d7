#include "ui/models/cli_program.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QStandardPaths>

namespace lockstep {

QString findCli()
{
    const QString chosen = qEnvironmentVariable("LOCKSTEP_CLI");
    if (!chosen.isEmpty())
        return chosen;
    const QString beside = QCoreApplication::applicationDirPath() + QStringLiteral("/lockstep-cli");
    return QFileInfo(beside).isExecutable() ? beside
                                            : QStandardPaths::findExecutable(QStringLiteral("lockstep-cli"));
}

} // namespace lockstep
