// Which run tells apart causes that are the same bits in one setting.
#pragma once

#include "core/align/diagnose/run_traits.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::align {

// The same two runs with one count changed.
struct SeparatingChange {
    std::string setting;    // of RunConfig: "accumulate", "batch" or "world"
    std::int64_t value = 0; // what it becomes
};

// The cheapest change of the suspect's settings under which the causes' factors on the gradient all differ; nothing where
// no count decides them, so that only the script can tell.
std::optional<SeparatingChange> separatingChange(const std::vector<std::string>& causes,
                                                 const RunTraits& suspect);
// The same as a sentence for people.
std::string separatingRun(const std::vector<std::string>& causes, const RunTraits& suspect);

} // namespace lockstep::align
