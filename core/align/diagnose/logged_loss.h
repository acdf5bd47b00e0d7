// What the number is that a script of several ranks shows as its loss.
#pragma once

#include "core/align/diagnose/run_trace.h"

#include <optional>

namespace lockstep::align {

struct LoggedLoss {
    enum Form { Mean, OwnRank, Sum } form = Mean;
    std::int64_t step = -1; // first that shows it
    double shown = 0, mean = 0, own = 0;
};

// nullopt: nothing was logged, there is one rank, or the shown number is none of these.
std::optional<LoggedLoss> judgeLoggedLoss(const RunTrace& run);

} // namespace lockstep::align
