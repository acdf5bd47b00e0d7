// Causes that are a matter of one setting: which one, and the value that undoes it.
#pragma once

#include "core/align/diagnose/run_traits.h"

#include <optional>
#include <string>

namespace lockstep::align {

struct DecidingSetting {
    std::string name;  // as in RunConfig
    std::string value; // the reference's
};

// Nothing where the cause is no matter of a setting, or both runs were told the same value.
std::optional<DecidingSetting> decidingSetting(const std::string& cause, const RunTraits& reference,
                                               const RunTraits& suspect);

} // namespace lockstep::align
