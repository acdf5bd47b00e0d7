#include "app/gui/script_arguments.h"

#include "core/config/script_words.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QVersionNumber>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::CliCommands)
};

const QVersionNumber kOldestTorch(2, 1); // what lockstep_probe needs

QString lastLine(const QByteArray& text)
{
    return QString::fromUtf8(text.trimmed().split('\n').last()).trimmed();
}

} // namespace

QStringList probeArguments(const ScriptRun& script)
{
    const ScriptCommand usual;
    const ScriptCommand& command = script.command;
    QStringList words;
    if (!script.name.isEmpty())
        words << QStringLiteral("--name") << script.name;
    words << (command.ddp ? QStringLiteral("--ddp") : QStringLiteral("--single"));
    if (command.ddp && ranksOfCommand(command.words) != command.world)
        words << QStringLiteral("--world") << QString::number(command.world);
    if (command.threads != usual.threads)
        words << QStringLiteral("--threads") << QString::number(command.threads);
    if (command.record != usual.record)
        words << QStringLiteral("--record") << QString::fromStdString(command.record);
    if (!command.metric.empty())
        words << QStringLiteral("--metric") << QString::fromStdString(command.metric);
    words << QStringLiteral("--");
    for (const std::string& word : command.words)
        words << QString::fromStdString(word);
    return words;
}

InterpreterFacts interpreterFacts(const QString& path, int exitCode, const QByteArray& output,
                                  const QByteArray& error)
{
    InterpreterFacts facts;
    facts.path = path;
    if (exitCode < 0) {
        facts.error = Tr::tr("%1 did not answer. It is no Python, or its torch takes more than a minute to "
                             "import. Try it in a terminal.")
                          .arg(path);
        return facts;
    }
    const QJsonArray versions = QJsonDocument::fromJson(lastLine(output).toUtf8()).array();
    if (exitCode > 0 || versions.size() != 2) {
        const QString why = lastLine(error.isEmpty() ? output : error);
        facts.error = Tr::tr("%1 cannot import torch: %2. Choose the Python of the environment that has it.")
                          .arg(path, why.isEmpty() ? Tr::tr("it said nothing") : why);
        return facts;
    }
    facts.python = versions.at(0).toString();
    facts.torch = versions.at(1).toString();
    if (QVersionNumber::fromString(facts.torch) < kOldestTorch)
        facts.error =
            Tr::tr("The torch of %1 is %2. Recording a script needs 2.1 or newer.").arg(path, facts.torch);
    return facts;
}

} // namespace lockstep
