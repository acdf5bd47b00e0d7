// How a check of a gate is written down; the same in every phase. Internal to core/gates.
#pragma once

#include "core/store/project_store.h"

#include <functional>
#include <string>
#include <vector>

namespace lockstep {

GateCheck& addCheck(std::vector<GateCheck>& checks, std::string id, bool holds, std::string value,
                    std::string limit, std::string sentence);
// For what could not be held against anything: verdict "cannot_judge".
GateCheck& addUnjudged(std::vector<GateCheck>& checks, std::string id, std::string why);

// What the checks say together: "fail" if one fails, "cannot_judge" if there is none or one that the gate cannot do without was
// not judged, else "pass".
std::string verdictOf(const std::vector<GateCheck>& checks,
                      const std::function<bool(const GateCheck&)>& dispensable = {});

} // namespace lockstep
