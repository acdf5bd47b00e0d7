// How a run was set up, as far as a diagnosis may know it. A run's name and the deviations that were planted in
// it are not in here, so no rule can read a cause off the configuration.
#pragma once

#include "core/config/run_config.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

struct RunTraits {
    bool single = true;    // one process that is nobody's rank; false: `world` ranks, real or replayed
    bool replayed = false; // a twin: one process played all ranks, so it had no collectives
    int world = 1;
    int alignWorld = 1;     // a single run that trains on the global batches of this many ranks
    std::int64_t batch = 0; // samples per rank and micro-batch
    int accumulate = 1;
    std::string optimizer;
    double weightDecay = 0;
    double clipNorm = 0;
    std::string amp;
    std::string reduction;
    bool dropLast = false;
    bool shuffle = true;
    // Every setting as text but the name and planted deviations, for naming what two runs were told differently.
    std::vector<std::pair<std::string, std::string>> settings;

    // Ranks whose micro-batches make one step.
    int ranks() const { return single ? alignWorld : world; }
};

RunTraits traitsOf(const RunConfig& config);

} // namespace lockstep
