// What the host breaks on purpose, from outside a rank (phase 4). What a rank does to itself is a fault of the engine
// ("drill-throw", "drill-hang", ...); here belongs what only somebody else can do to it.
#pragma once

#include <cstdint>

namespace lockstep {

struct HostDrill {
    enum class Act {
        Kill,  // SIGKILL to the rank's process
        Watch, // nothing; only notes the moment in which the rank's process stops (the engine's "drill-hang")
        DropConnections, // the host loses the connections of all ranks
    };
    Act act = Act::Kill;
    int rank = 0;
    std::int64_t step = 1;        // acts once this rank has reported this step ...
    std::int64_t delayMicros = 0; // ... and this time has passed
    std::int64_t backUpAt = 0; // a run that went on with fewer ranks gets them back after this step; 0: never
};

} // namespace lockstep
