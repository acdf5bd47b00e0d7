#include "core/host/probe_command.h"

#include <QDir>
#include <QFileInfo>

#include <algorithm>

namespace lockstep {

namespace {

const QString kModule = QStringLiteral("lockstep_probe");

// python -m one of these starts the script that follows.
const QStringList kLauncherModules = {QStringLiteral("torch.distributed.run"),
                                      QStringLiteral("torch.distributed.launch"),
                                      QStringLiteral("accelerate.commands.launch")};

// Place of the script in the command, or of the -m before a module; -1: neither.
qsizetype placeOfScript(const QStringList& command)
{
    for (qsizetype i = 1; i < command.size(); ++i) {
        if (command[i] == QLatin1String("-m") || command[i] == QLatin1String("--module")) {
            if (!kLauncherModules.contains(command.value(i + 1)))
                return i;
        } else if (command[i].endsWith(QLatin1String(".py"))) {
            return i;
        }
    }
    return -1;
}

bool isModuleOption(const QString& word)
{
    return !word.endsWith(QLatin1String(".py"));
}

// The value of --name=VALUE or --name VALUE, with dashes or underscores; empty: not there.
QString optionValue(const QStringList& command, const QString& name)
{
    for (qsizetype i = 0; i < command.size(); ++i) {
        QString word = command[i];
        const QString value = word.contains(QLatin1Char('=')) ? word.section(QLatin1Char('='), 1) : QString();
        word = word.section(QLatin1Char('='), 0, 0).replace(QLatin1Char('_'), QLatin1Char('-'));
        if (word != name)
            continue;
        return !value.isEmpty() ? value : command.value(i + 1);
    }
    return {};
}

QString programFolder()
{
    return QFileInfo(QStringLiteral("/proc/self/exe")).symLinkTarget().section(QLatin1Char('/'), 0, -2);
}

// The first of these that is there; empty: none.
QString firstExisting(const QStringList& paths)
{
    const auto found =
        std::find_if(paths.begin(), paths.end(), [](const QString& path) { return QFileInfo::exists(path); });
    return found == paths.end() ? QString() : QFileInfo(*found).canonicalFilePath();
}

} // namespace

Result<QStringList> probedCommand(const QStringList& command)
{
    if (std::any_of(command.begin(), command.end(), [](const QString& word) { return word == kModule; }))
        return command;
    const qsizetype place = placeOfScript(command);
    if (place < 0)
        return Error{
            ErrorKind::Usage, "There is no Python script in this command",
            "it has no word that ends with .py and no -m MODULE",
            "Write for example -- python train.py, or put -m lockstep_probe before the script yourself"};
    QStringList probed = command.mid(0, place);
    probed << QStringLiteral("-m") << kModule;
    if (isModuleOption(command[place]))
        probed << QStringLiteral("-m") << command.mid(place + 1);
    else
        probed << command.mid(place);
    return probed;
}

std::string scriptName(const QStringList& command)
{
    const qsizetype place = placeOfScript(command);
    if (place < 0)
        return "script";
    const QString word = isModuleOption(command[place]) ? command.value(place + 1) : command[place];
    return QFileInfo(word).completeBaseName().toStdString();
}

int ranksOfCommand(const QStringList& command)
{
    int ranks = 1;
    for (const QString& name : {QStringLiteral("--nproc-per-node"), QStringLiteral("--num-processes"),
                                QStringLiteral("--nnodes")}) {
        const QString value = optionValue(command, name);
        if (value.isEmpty())
            continue;
        bool isNumber = false;
        const int number = value.toInt(&isNumber);
        if (!isNumber)
            return 0;
        ranks *= number;
    }
    return ranks;
}

Status addProbe(QProcessEnvironment& environment, const ProbeOptions& options)
{
    const QString folder = programFolder();
    const QString named = qEnvironmentVariable("LOCKSTEP_PYTHON");
    const QStringList homes = named.isEmpty()
                                  ? QStringList{folder + QStringLiteral("/../../resources/python"),
                                                folder + QStringLiteral("/../share/lockstep/python")}
                                  : QStringList{named};
    QStringList packages;
    for (const QString& home : homes)
        packages << home + QStringLiteral("/lockstep_probe/__main__.py");
    const QString package = firstExisting(packages);
    if (package.isEmpty())
        return Error{ErrorKind::Environment,
                     "The script cannot be recorded: the Python package lockstep_probe is missing",
                     "it is not in " + homes.join(QStringLiteral(" nor in ")).toStdString(),
                     "Set LOCKSTEP_PYTHON to the folder that holds it"};
    const QString home = package.section(QLatin1Char('/'), 0, -3);
    const QString path = environment.value(QStringLiteral("PYTHONPATH"));
    environment.insert(QStringLiteral("PYTHONPATH"), path.isEmpty() ? home : home + QLatin1Char(':') + path);

    const QString library =
        firstExisting({folder + QStringLiteral("/liblockstep_measure.so"),
                       folder + QStringLiteral("/../lib/lockstep/liblockstep_measure.so")});
    if (!library.isEmpty() && !environment.contains(QStringLiteral("LOCKSTEP_MEASURE")))
        environment.insert(QStringLiteral("LOCKSTEP_MEASURE"), library);
    environment.insert(QStringLiteral("LOCKSTEP_RECORD"), QString::fromStdString(options.record));
    environment.remove(QStringLiteral("LOCKSTEP_METRIC"));
    if (!options.metric.empty())
        environment.insert(QStringLiteral("LOCKSTEP_METRIC"), QString::fromStdString(options.metric));
    // torchrun would give each of several ranks one thread, and a single process all cores; the number of threads is part
    // of the bits, so both get the same.
    environment.insert(QStringLiteral("OMP_NUM_THREADS"), QString::number(options.threads));
    environment.insert(QStringLiteral("PYTHONUNBUFFERED"), QStringLiteral("1"));
    return {};
}

} // namespace lockstep
