#include "ui/models/run_repeat.h"

#include "core/config/imported_series.h"
#include "ui/models/format.h"
#include "ui/models/run_commands.h"

namespace lockstep {

bool canRepeat(const RunEntry& run)
{
    return run.configReadable && (run.command || !run.script()) && run.config.mode != kImportedMode;
}

void repeatRun(RunCommands& commands, const RunEntry& run)
{
    if (!canRepeat(run))
        return;
    if (!run.command) {
        commands.startRunWith(run.config, onLossWords(run.onLoss));
        return;
    }
    ScriptRun again;
    again.name = qs(run.info.name);
    again.command = *run.command;
    // The window may have another PATH than the terminal in which the run was started.
    if (!again.command.program.empty())
        again.command.words.front() = again.command.program;
    commands.startScripts({again});
}

} // namespace lockstep
