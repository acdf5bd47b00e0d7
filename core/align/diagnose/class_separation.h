// Which run tells apart causes that are the same bits in one setting.
#pragma once

#include "core/align/diagnose/run_traits.h"

#include <string>
#include <vector>

namespace lockstep::align {

// The cheapest change of the suspect's settings under which the causes' factors differ, as a sentence for people.
std::string separatingRun(const std::vector<std::string>& causes, const RunTraits& suspect);

} // namespace lockstep::align
