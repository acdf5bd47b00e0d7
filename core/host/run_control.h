// How another process finds and stops the host of a run: a small file in the run's folder names its process.
#pragma once

#include "core/base/status.h"

#include <string>

namespace lockstep {

// Names this process as the host of the run in `runFolder`. Errors: Io.
Status writeHostFile(const std::string& runFolder);
void removeHostFile(const std::string& runFolder);

// Sends SIGTERM to the host of the run and waits until its process has ended, at most `timeoutSeconds` (0:
// does not wait). The process is identified by pid and start time, so a reused pid is never signalled.
// Errors: NotFound if no host is alive, Busy if it has not ended in time.
Status stopRunOf(const std::string& runFolder, int timeoutSeconds);

// Asks the host of the run to go on with `world` ranks: a file in the run's folder that the host watches. The host answers
// by what the run does next. Errors: NotFound if no host is alive, Io.
Status switchRunOf(const std::string& runFolder, int world);
// What was asked for since the last call, by the host itself; 0: nothing.
int takeSwitchRequest(const std::string& runFolder);

} // namespace lockstep
