// Entries of the catalogue that have no switch, with the reason; docs/faults.md lists them too.
#include "core/engine/catalogue.h"

namespace lockstep {

std::vector<LeftOutFault> leftOutFaults()
{
    return {
        {"B9", "gather without gradient", "no workload has a loss over samples of other ranks"},
        {"F3", "checkpoint loaded to cuda:0", "needs more than one GPU"},
        {"F4", "tying broken", "the tied weight of char-gpt is one parameter and is saved under one name"},
        {"F8", "averaged weights never updated", "the engine keeps no averaged weights"},
        {"F10", "mean of rank metrics", "the engine reduces sums and counts only"},
    };
}

} // namespace lockstep
