// The part of RunController that watches for ranks that say nothing any more. A rank sends a sign of life every half second
// from a thread of its own, so silence means that the whole process has stopped, or its machine.
#include "core/host/run_controller_rank.h"

#include <fmt/format.h>

namespace lockstep {

void RunController::watchForSilence()
{
    // A host that was held up itself has heard nobody: it listens for a while before it judges.
    const bool late = sinceSilenceWatched_.restart() > options_.silenceMs / 2;
    if (late || phase_ != Phase::Running)
        return;
    const std::int64_t limit = std::int64_t(options_.silenceMs) * 1'000'000;
    const std::int64_t now = monotonicNs();
    for (int number = 0; number < world_; ++number) {
        Rank& rank = *ranks_[std::size_t(number)];
        if (rank.end || rank.goodbye || rank.lastHeardNs == 0 || now - rank.lastHeardNs < limit)
            continue;
        event("error",
              fmt::format(R"({{"sentence":"Rank {} has sent no sign of life for {:.1f} s and is ended"}})",
                          number, double(now - rank.lastHeardNs) * 1e-9));
        rank.endedByHost = true;
        rank.process->kill();
        onRankFailed(number); // its peers lose their connection now, and say so
        return;
    }
}

} // namespace lockstep
