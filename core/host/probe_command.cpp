#include "core/host/probe_command.h"

#include "core/config/script_words.h"
#include "core/host/launch_environment.h"

#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

#include <algorithm>

namespace lockstep {

namespace {

const QString kModule = QStringLiteral("lockstep_probe");

std::vector<std::string> wordsOf(const QStringList& command)
{
    std::vector<std::string> words;
    for (const QString& word : command)
        words.push_back(word.toStdString());
    return words;
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
    const qsizetype place = placeOfScript(wordsOf(command));
    if (place < 0)
        return Error{
            ErrorKind::Usage, "There is no Python script in this command",
            "it has no word that ends with .py and no -m MODULE",
            "Write for example -- python train.py, or put -m lockstep_probe before the script yourself"};
    QStringList probed = command.mid(0, place);
    probed << QStringLiteral("-m") << kModule;
    if (isModuleOption(command[place].toStdString()))
        probed << QStringLiteral("-m") << command.mid(place + 1);
    else
        probed << command.mid(place);
    return probed;
}

ScriptCommand describedCommand(const QStringList& command, const ProbeOptions& options, int world, bool ddp)
{
    ScriptCommand described;
    described.words = wordsOf(command);
    // Not canonical: the interpreter of a virtual environment is a link, and what it is linked to knows no packages.
    const QString program = command.value(0);
    const QString found = program.contains(QLatin1Char('/')) ? QFileInfo(program).absoluteFilePath()
                                                             : QStandardPaths::findExecutable(program);
    described.program = found.toStdString();
    described.folder = QDir::currentPath().toStdString();
    described.world = world;
    described.ddp = ddp;
    described.threads = options.threads;
    described.record = options.record;
    described.metric = options.metric;
    return described;
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
