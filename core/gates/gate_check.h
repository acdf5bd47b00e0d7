// How a check of a gate is written down; the same in every phase. Internal to core/gates.
#pragma once

#include "core/store/project_store.h"

#include <string>
#include <vector>

namespace lockstep {

GateCheck& addCheck(std::vector<GateCheck>& checks, std::string id, bool holds, std::string value,
                    std::string limit, std::string sentence);
// For what could not be held against anything: verdict "cannot_judge".
GateCheck& addUnjudged(std::vector<GateCheck>& checks, std::string id, std::string why);

} // namespace lockstep
