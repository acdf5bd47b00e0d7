// Whether a verdict speaks for the project, or only answers "what if".
#pragma once

#include "app/cli/gate_request.h"

#include <string>

namespace lockstep {

struct GateKept {
    bool kept = true;
    std::string sentence; // for people, when a configuration or a list was given; empty: nothing to say
};

// A configuration or a list on the command line is kept as the project's gate if it is what the newest run trains, if the
// project has no such run yet (then it is the plan), or if --keep says so. Every other way of judging keeps its verdict.
Result<GateKept> keptGate(ProjectStore& project, const GateRequest& request, const GateInfo& gate);

} // namespace lockstep
