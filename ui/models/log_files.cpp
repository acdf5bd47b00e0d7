#include "ui/models/log_files.h"

#include "core/logs/read_logs.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

namespace lockstep {

bool isLogOfAnotherTool(const QString& path)
{
    static const QStringList weights{QStringLiteral("*.pt"),     QStringLiteral("*.pth"),
                                     QStringLiteral("*.bin"),    QStringLiteral("*.safetensors"),
                                     QStringLiteral("*.distcp"), QStringLiteral("*.ckpt")};
    if (QFileInfo(path).isDir() && !QDir(path).entryList(weights, QDir::Files).isEmpty())
        return false;
    return holdsLogs(QFile::encodeName(path).toStdString());
}

} // namespace lockstep
