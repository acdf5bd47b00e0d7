// The same order dealt to every world size: what a change of the number of ranks does to coverage.
#pragma once

#include "core/gates/data_plan.h"

#include <cstdint>

namespace lockstep {

struct WorldSweep {
    std::int64_t worlds = 0; // sizes dealt: all from 1 to 1,024, or a selection where the dataset is large
    std::int64_t overlap = 0;
    std::int64_t omitted = 0; // beyond drop_last's N mod W
    int failing = 0;          // first world that does not cover the dataset; 0: none
};

WorldSweep coverEveryWorld(const DataPlan& plan);

} // namespace lockstep
