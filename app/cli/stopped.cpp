#include "app/cli/stopped.h"

#include "app/cli/cli_context.h"
#include "core/host/stop_signals.h"

#include <csignal>

namespace lockstep {

int stoppedExitCode()
{
    const int signal = StopSignals::last();
    return 128 + (signal > 0 ? signal : SIGTERM);
}

int failOrStopped(const Error& error)
{
    const int code = fail(error);
    return error.kind == ErrorKind::Cancelled ? stoppedExitCode() : code;
}

} // namespace lockstep
