// `probe --after RUN`: the second of two runs waits until the first is over, without a window that has to stay open for it.
#pragma once

#include "core/base/status.h"

#include <string>

namespace lockstep {

class StopSignals;

// Returns when the run has finished; needs a QCoreApplication in this thread. Errors: no such run; RunFailed where it ended in
// another way, so that there is nothing to go on from; Cancelled by a stop signal.
Status waitForRun(const std::string& projectFolder, const std::string& run, StopSignals& signals);

} // namespace lockstep
