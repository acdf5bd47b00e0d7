// "Run again": the same run once more, as it was started. A user's script is started again by its own command in its own
// folder, a run of the engine by its configuration and what it does when ranks are lost.
#pragma once

#include "ui/models/project_snapshot.h"

namespace lockstep {

class RunCommands;

// The run could be repeated: its configuration is readable.
bool canRepeat(const RunEntry& run);
void repeatRun(RunCommands& commands, const RunEntry& run);

} // namespace lockstep
