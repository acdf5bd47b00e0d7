// "Use my script": what the form holds, the two commands it makes of that, and what can be known to be wrong before anything
// is started. Pure functions of the file system; what only the interpreter knows is RunCommands::checkInterpreter.
#pragma once

#include "core/config/run_extras.h"

#include <QJsonObject>
#include <QString>
#include <QStringList>

namespace lockstep {

struct ScriptSetup {
    QString folder;      // working folder
    QString interpreter; // a path, also relative to the folder, or a name in PATH
    QString single, ddp; // as a person types them; empty: not run
    QString metric;      // pattern of the printed loss; empty: none
    int ranks = 0;       // of `ddp`; 0: as the command says itself

    bool operator==(const ScriptSetup&) const = default;
};

// What is wrong with a field, as a sentence; empty: nothing.
struct ScriptProblems {
    QString folder, interpreter, single, ddp, metric;

    bool none() const
    {
        return folder.isEmpty() && interpreter.isEmpty() && single.isEmpty() && ddp.isEmpty() &&
               metric.isEmpty();
    }
};

ScriptProblems problemsOf(const ScriptSetup& setup);

// The command of a field as words that run it: a first word that is python, a script or -m stands for the chosen interpreter,
// torchrun for that interpreter's torch.distributed.run, any other program is looked for beside the interpreter and in PATH.
ScriptCommand singleCommand(const ScriptSetup& setup);
ScriptCommand ddpCommand(const ScriptSetup& setup);

// The interpreter as an absolute path; empty: there is none of that name.
QString interpreterPath(const ScriptSetup& setup);
// Interpreters worth offering, the likeliest first: environments in and around the folder, the active one, those of PATH.
QStringList interpreterChoices(const QString& folder);

// As part of DIR/session.json. Reading accepts anything.
QJsonObject toSession(const ScriptSetup& setup);
ScriptSetup fromSession(const QJsonObject& state);
// What the newest runs of scripts say, where the session knows nothing: command, folder, interpreter.
ScriptSetup fromCommands(const ScriptCommand* single, const ScriptCommand* ddp);

} // namespace lockstep
