// A perfect-looking loss can be a NaN: the Trainer's filter and a skipped iteration of Megatron-LM both show 0. Private to
// core/logs.
#pragma once

#include "core/logs/log_data.h"

#include <cstdint>
#include <vector>

namespace lockstep::logs {

// Steps whose loss is 0 beside a gradient norm that is not finite or skipped iterations, ascending.
std::vector<std::int64_t> hiddenNanSteps(const std::vector<const LogSeries*>& series);

} // namespace lockstep::logs
