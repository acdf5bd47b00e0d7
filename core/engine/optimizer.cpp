#include "core/engine/optimizer_kinds.h"

#include <memory>

namespace lockstep {

std::unique_ptr<Optimizer> makeOptimizer(const RunConfig& config, std::size_t parameters)
{
    if (config.optimizer == "sgd")
        return std::make_unique<Sgd>(config.momentum, config.weightDecay, parameters);
    return std::make_unique<Adam>(config.weightDecay, config.optimizer == "adamw", parameters);
}

} // namespace lockstep
