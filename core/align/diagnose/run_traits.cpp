#include "core/align/diagnose/run_traits.h"

namespace lockstep {

RunTraits traitsOf(const RunConfig& config)
{
    RunTraits traits;
    traits.single = config.mode == "single";
    traits.replayed = config.mode == "twin";
    traits.world = traits.single ? 1 : config.world;
    traits.alignWorld = config.alignWorld;
    traits.batch = config.batch;
    traits.accumulate = config.accumulate;
    traits.optimizer = config.optimizer;
    traits.weightDecay = config.weightDecay;
    traits.clipNorm = config.clipNorm;
    traits.amp = config.amp;
    traits.reduction = config.reduction;
    traits.dropLast = config.dropLast;
    traits.shuffle = config.shuffle;
    RunConfig known = config;
    known.name.clear();
    known.faults.clear();
    traits.settings = flatten(known);
    return traits;
}

} // namespace lockstep
