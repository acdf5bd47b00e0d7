#include "core/host/switch_check.h"

#include <fmt/format.h>

namespace lockstep {

Status checkSwitch(const RunConfig& begun, int world)
{
    if (world >= 1 && begun.world % world == 0 && begun.mode == "ddp")
        return {};
    return Error{ErrorKind::Usage, fmt::format("The run cannot go on with {} ranks", world),
                 fmt::format("it was begun as {} with {} ranks, and its global batch has to stay the same",
                             begun.mode, begun.world),
                 "Choose a number of ranks that divides it"};
}

} // namespace lockstep
