// By which weights the ranks' gradients give the reference's, solved from the records.
#pragma once

#include "core/align/diagnose/case.h"

#include <optional>
#include <vector>

namespace lockstep::align {

// One weight per rank, which add up to 1 and hold for the projections of the gradients and for the losses alike; nullopt: there
// are none, or too few numbers to tell (more than four ranks), or the plain mean fits as well.
std::optional<std::vector<double>> solvedShares(const Case& c, std::int64_t step);

} // namespace lockstep::align
