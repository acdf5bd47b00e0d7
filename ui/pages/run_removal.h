// Deleting a run as an undoable step: the folder moves to runs/.trash and back.
#pragma once

#include "ui/models/run_commands.h"

#include <QCoreApplication>
#include <QUndoCommand>

namespace lockstep {

class RunRemoval : public QUndoCommand
{
    Q_DECLARE_TR_FUNCTIONS(lockstep::RunRemoval)

public:
    RunRemoval(RunCommands& commands, const QString& runId, const QString& name)
        : QUndoCommand(tr("delete %1").arg(name)), commands_(commands), runId_(runId)
    {
    }

    void redo() override { commands_.removeRun(runId_); }
    void undo() override { commands_.restoreRun(runId_); }

private:
    RunCommands& commands_;
    QString runId_;
};

} // namespace lockstep
