// Parameters whose gradient a rank keeps for itself.
#pragma once

#include "core/align/diagnose/case.h"

#include <string>
#include <vector>

namespace lockstep::align {

// The names of the parameters whose gradient left the reduction as it went in, and how many there are in all.
struct Unreduced {
    std::vector<std::string> names;
    std::size_t all = 0;
    bool newGradient = false; // they had no gradient the step before
    bool unknown = false;     // DDP has none of them
    bool wholeModel = false;  // all of a model of its own, which is not the first

    std::string prefix() const; // what the names begin with in common: a parameter, a module
};

Unreduced unreducedParameters(const Case& c, std::int64_t step);

} // namespace lockstep::align
