// How a command that trains several times ends after a stop signal: as `run` does, with 128 + the signal.
#pragma once

#include "core/base/status.h"

namespace lockstep {

// SIGTERM's where no signal came to this process but a rank was stopped.
int stoppedExitCode();
// As fail(), for errors that may be Cancelled.
int failOrStopped(const Error& error);

} // namespace lockstep
