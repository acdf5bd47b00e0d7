// Which phases are open: phase N opens when every gate before it passed or was overridden with a written reason. The
// command line and the rail of the window ask the same function.
#pragma once

#include "core/store/project_store.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

inline constexpr std::array<std::string_view, 5> kGatePhases = {"preflight", "data", "gradients", "precision",
                                                                "drills"};

struct PhaseState {
    std::string phase;
    bool judged = false;
    bool passed = false; // green, or overridden
    bool overridden = false;
    bool open = false;
    std::string blockedBy; // the first gate before it that is neither; empty: open
};

bool gatePassed(const GateInfo& gate);
// One per phase, in order.
std::vector<PhaseState> phaseStates(const std::vector<GateInfo>& gates);
// Errors: Usage for a phase that does not exist; Input for a closed one, naming the gate that closes it.
Status requireOpen(const std::string& phase, const std::vector<GateInfo>& gates);

} // namespace lockstep
