#include "ui/models/script_setup.h"

#include "core/config/script_words.h"
#include "ui/models/format.h"
#include "ui/models/known_interpreters.h"
#include "ui/models/shell_words.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <QStandardPaths>

#include <algorithm>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::ScriptSetup)
};

constexpr int kMostRanks = 1024;

// "~" and what is relative to `folder`, as a shell in that folder would read it.
QString absolutePath(const QString& text, const QString& folder)
{
    QString path = text.trimmed();
    if (path == QLatin1String("~") || path.startsWith(QLatin1String("~/")))
        path.replace(0, 1, QDir::homePath());
    return QDir::cleanPath(QDir(folder).absoluteFilePath(path));
}

QString workingFolder(const ScriptSetup& setup)
{
    return absolutePath(setup.folder, QDir::currentPath());
}

bool isProgram(const QString& path)
{
    const QFileInfo info(path);
    return info.isFile() && info.isExecutable();
}

bool namesPython(const QString& word)
{
    static const QRegularExpression python(QStringLiteral("^(.*/)?python[0-9.]*$"));
    return python.match(word).hasMatch();
}

// What a word that is no path means: the program beside the interpreter, as in an activated environment, else that of PATH.
QString programOf(const QString& word, const ScriptSetup& setup)
{
    if (word.contains(QLatin1Char('/'))) {
        const QString path = absolutePath(word, workingFolder(setup));
        return isProgram(path) ? path : QString();
    }
    const QString interpreter = interpreterPath(setup);
    const QString beside = QFileInfo(interpreter).path() + QLatin1Char('/') + word;
    return !interpreter.isEmpty() && isProgram(beside) ? beside : QStandardPaths::findExecutable(word);
}

QStringList resolved(const QString& text, const ScriptSetup& setup)
{
    QStringList words = splitShell(text).value_or(QStringList());
    if (words.isEmpty())
        return {};
    const QString interpreter = interpreterPath(setup);
    if (words.front().endsWith(QLatin1String(".py")) || words.front() == QLatin1String("-m")) {
        words.prepend(interpreter);
    } else if (namesPython(words.front()) && !words.front().contains(QLatin1Char('/'))) {
        words.front() = interpreter;
    } else if (words.front() == QLatin1String("torchrun")) {
        // The launcher of the same environment, whatever stands first in PATH.
        words.front() = QStringLiteral("torch.distributed.run");
        words.prepend(QStringLiteral("-m"));
        words.prepend(interpreter);
    } else if (const QString program = programOf(words.front(), setup); !program.isEmpty()) {
        words.front() = program;
    }
    return words;
}

ScriptCommand commandOf(const QString& text, const ScriptSetup& setup)
{
    ScriptCommand command;
    for (const QString& word : resolved(text, setup))
        command.words.push_back(word.toStdString());
    if (!command.words.empty())
        command.program = command.words.front();
    command.folder = workingFolder(setup).toStdString();
    command.metric = setup.metric.trimmed().toStdString();
    return command;
}

// Of a command: its program, its script, how many ranks.
QString problemOfCommand(const QString& text, const ScriptCommand& command, const ScriptSetup& setup)
{
    const std::optional<QStringList> words = splitShell(text);
    if (!words)
        return Tr::tr("A quotation mark is not closed. Write \"...\" around words with spaces.");
    const QString first = words->value(0);
    if (first.contains(QLatin1Char('=')))
        return Tr::tr("%1 is no program. Write env %1 before the command to set a variable.").arg(first);
    const QString program = qs(command.words.front());
    if (!program.isEmpty() && !isProgram(program))
        return Tr::tr("%1 was not found beside the interpreter nor in PATH. Write its whole path.")
            .arg(first);
    const std::ptrdiff_t place = placeOfScript(command.words);
    if (place < 0)
        return Tr::tr("No script is named. Write for example python train.py, or python -m package.module.");
    const std::string& script = command.words[std::size_t(place)];
    if (isModuleOption(script))
        return std::size_t(place) + 1 < command.words.size()
                   ? QString()
                   : Tr::tr("No module is named after -m. Write for example python -m package.module.");
    if (!QFileInfo(absolutePath(qs(script), workingFolder(setup))).isFile())
        return Tr::tr("%1 is not in %2. Write its path from the working folder.")
            .arg(qs(script), formatFolder(workingFolder(setup)));
    return {};
}

} // namespace

QString interpreterPath(const ScriptSetup& setup)
{
    const QString text = setup.interpreter.trimmed();
    if (text.isEmpty())
        return {};
    if (!text.contains(QLatin1Char('/')))
        return QStandardPaths::findExecutable(text);
    const QString path = absolutePath(text, workingFolder(setup));
    return isProgram(path) ? path : QString();
}

ScriptCommand singleCommand(const ScriptSetup& setup)
{
    return commandOf(setup.single, setup);
}

ScriptCommand ddpCommand(const ScriptSetup& setup)
{
    ScriptCommand command = commandOf(setup.ddp, setup);
    command.world = setup.ranks > 0 ? setup.ranks : ranksOfCommand(command.words);
    command.ddp = true;
    return command;
}

ScriptProblems problemsOf(const ScriptSetup& setup)
{
    ScriptProblems problems;
    if (setup.folder.trimmed().isEmpty())
        problems.folder = Tr::tr("No folder is chosen. Choose the one from which you start the script.");
    else if (!QFileInfo(workingFolder(setup)).isDir())
        problems.folder = Tr::tr("There is no folder %1. Choose the one from which you start the script.")
                              .arg(formatFolder(workingFolder(setup)));
    if (setup.interpreter.trimmed().isEmpty())
        problems.interpreter = Tr::tr("No interpreter is chosen. Choose the Python that has your torch.");
    else if (interpreterPath(setup).isEmpty())
        problems.interpreter =
            Tr::tr("%1 is no program. Choose the Python that has your torch, for example .venv/bin/python.")
                .arg(setup.interpreter.trimmed());
    const QString metric = setup.metric.trimmed();
    const QRegularExpression pattern(metric);
    if (!pattern.isValid())
        problems.metric = Tr::tr("The pattern cannot be read: %1. Write for example loss=([0-9.]+).")
                              .arg(pattern.errorString());
    else if (!metric.isEmpty() && pattern.captureCount() == 0)
        problems.metric =
            Tr::tr("No part of the pattern is in parentheses. Put them around the number: loss=([0-9.]+).");
    if (!problems.folder.isEmpty() || !problems.interpreter.isEmpty())
        return problems; // the commands mean nothing without them

    if (setup.single.trimmed().isEmpty() && setup.ddp.trimmed().isEmpty())
        problems.single = Tr::tr("No command is given. Write for example python train.py.");
    if (!setup.single.trimmed().isEmpty()) {
        const ScriptCommand command = singleCommand(setup);
        problems.single = problemOfCommand(setup.single, command, setup);
        if (const int ranks = ranksOfCommand(command.words); problems.single.isEmpty() && ranks != 1)
            problems.single = Tr::tr(
                "This command starts several ranks. Write the one for one process here, the other below.");
    }
    if (!setup.ddp.trimmed().isEmpty()) {
        const ScriptCommand command = ddpCommand(setup);
        problems.ddp = problemOfCommand(setup.ddp, command, setup);
        if (!problems.ddp.isEmpty())
            return problems;
        if (command.world < 1)
            problems.ddp =
                Tr::tr("The command does not say how many ranks it starts. Say it with --nproc-per-node "
                       "or in the field for ranks.");
        else if (command.world == 1)
            problems.ddp =
                Tr::tr("The command starts one rank. Write for example torchrun --nproc-per-node 2 %1.")
                    .arg(qs(scriptName(command.words)) + QStringLiteral(".py"));
        else if (command.world > kMostRanks)
            problems.ddp =
                Tr::tr("%1 ranks are too many, the most are %2.").arg(command.world).arg(kMostRanks);
    }
    return problems;
}

QStringList interpreterChoices(const QString& folder)
{
    QStringList found;
    const auto add = [&](const QString& path) {
        if (!path.isEmpty() && isProgram(path) && !found.contains(path))
            found << path;
    };
    QDir place(absolutePath(folder, QDir::currentPath()));
    for (int up = 0; up < 3 && !folder.trimmed().isEmpty(); ++up) {
        for (const char* name : {".venv", "venv", "env"})
            add(place.filePath(QLatin1String(name) + QStringLiteral("/bin/python")));
        if (!place.cdUp())
            break;
    }
    for (const QString& own : ownInterpreters())
        add(own);
    return found;
}

QJsonObject toSession(const ScriptSetup& setup)
{
    return {{QStringLiteral("folder"), setup.folder}, {QStringLiteral("interpreter"), setup.interpreter},
            {QStringLiteral("single"), setup.single}, {QStringLiteral("ddp"), setup.ddp},
            {QStringLiteral("metric"), setup.metric}, {QStringLiteral("ranks"), setup.ranks}};
}

ScriptSetup fromSession(const QJsonObject& state)
{
    const auto text = [&](const char* name) { return state.value(QLatin1String(name)).toString(); };
    ScriptSetup setup{text("folder"), text("interpreter"), text("single"), text("ddp"), text("metric"), 0};
    setup.ranks = std::clamp(state.value(QStringLiteral("ranks")).toInt(), 0, kMostRanks);
    return setup;
}

namespace {

// A command as one would type it: python and torchrun by their names where they are the interpreter's.
QString typed(const ScriptCommand& command, const QString& interpreter)
{
    QStringList words;
    for (const std::string& word : command.words)
        words << qs(word);
    if (words.mid(1, 2) == QStringList{QStringLiteral("-m"), QStringLiteral("torch.distributed.run")})
        return shellLine(QStringList{QStringLiteral("torchrun")} + words.mid(3));
    const QFileInfo program(qs(command.program));
    if (program.fileName() == QLatin1String("torchrun") && program.path() == QFileInfo(interpreter).path())
        words.front() = QStringLiteral("torchrun");
    else if (namesPython(words.value(0)))
        words.front() = QStringLiteral("python");
    return shellLine(words);
}

} // namespace

ScriptSetup fromCommands(const ScriptCommand* single, const ScriptCommand* ddp)
{
    ScriptSetup setup;
    for (const ScriptCommand* command : {single, ddp}) {
        if (!command)
            continue;
        if (setup.folder.isEmpty())
            setup.folder = qs(command->folder);
        if (setup.interpreter.isEmpty()) {
            const QString program = qs(command->program);
            const QString beside = QFileInfo(program).path() + QStringLiteral("/python");
            setup.interpreter = namesPython(program) ? program : isProgram(beside) ? beside : QString();
        }
        if (setup.metric.isEmpty())
            setup.metric = qs(command->metric);
    }
    if (single)
        setup.single = typed(*single, setup.interpreter);
    if (ddp) {
        setup.ddp = typed(*ddp, setup.interpreter);
        if (ranksOfCommand(ddp->words) != ddp->world)
            setup.ranks = ddp->world;
    }
    return setup;
}

} // namespace lockstep
