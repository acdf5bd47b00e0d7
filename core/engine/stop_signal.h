// SIGTERM and SIGINT as a request that the training loop reads between steps.
#pragma once

namespace lockstep {

// Also asks the kernel for SIGTERM when the parent process ends, so that no rank outlives its launcher.
void installStopSignals();
bool stopRequested();
// The same request from inside: the recording host went away, or a peer wants to stop. Any thread.
void requestStop();

} // namespace lockstep
