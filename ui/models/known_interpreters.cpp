#include "ui/models/known_interpreters.h"

#include <QFileInfo>
#include <QSettings>
#include <QStandardPaths>

namespace lockstep {

namespace {

constexpr int kRemembered = 50;
constexpr QLatin1String kKey("interpreters");

} // namespace

QStringList ownInterpreters()
{
    QStringList found;
    const auto add = [&](const QString& path) {
        const QFileInfo info(path);
        if (!path.isEmpty() && info.isFile() && info.isExecutable() && !found.contains(path))
            found << path;
    };
    for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
        if (qEnvironmentVariableIsSet(variable))
            add(qEnvironmentVariable(variable) + QStringLiteral("/bin/python"));
    for (const char* name : {"python", "python3"})
        add(QStandardPaths::findExecutable(QLatin1String(name)));
    return found;
}

bool isKnownInterpreter(const QString& path)
{
    return ownInterpreters().contains(path) || QSettings().value(kKey).toStringList().contains(path);
}

void rememberInterpreter(const QString& path)
{
    QSettings settings;
    QStringList known = settings.value(kKey).toStringList();
    known.removeAll(path);
    known.prepend(path);
    settings.setValue(kKey, known.mid(0, kRemembered));
}

} // namespace lockstep
