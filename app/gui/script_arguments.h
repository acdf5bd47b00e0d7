// A user's script as options of `lockstep-cli probe`, and what an interpreter said when it was asked for its torch.
#pragma once

#include "ui/models/run_commands.h"

#include <QByteArray>

namespace lockstep {

// Everything after DIR: options, --, the command.
QStringList probeArguments(const ScriptRun& script);

// `exitCode` below 0: it could not be started or was ended. The last line of `output` is a JSON list of two versions.
InterpreterFacts interpreterFacts(const QString& path, int exitCode, const QByteArray& output,
                                  const QByteArray& error);

} // namespace lockstep
