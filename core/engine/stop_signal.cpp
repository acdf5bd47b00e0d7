#include "core/engine/stop_signal.h"

#include <atomic>
#include <csignal>

#include <sys/prctl.h>

namespace lockstep {

namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

extern "C" void onStopSignal(int)
{
    stop.store(true, std::memory_order_relaxed);
}

} // namespace

void installStopSignals()
{
    struct sigaction action = {};
    action.sa_handler = onStopSignal;
    action.sa_flags = SA_RESTART; // a collective in flight is finished, not broken
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGINT, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN); // a lost connection is reported by send()
    std::signal(SIGXFSZ, SIG_IGN); // a file size limit is reported by write()
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

bool stopRequested()
{
    return stop.load(std::memory_order_relaxed);
}

void requestStop()
{
    stop.store(true, std::memory_order_relaxed);
}

} // namespace lockstep
