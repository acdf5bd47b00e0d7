#include "core/gates/phase_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lockstep {

bool gatePassed(const GateInfo& gate)
{
    return gate.verdict == "pass" || !gate.overrideReason.empty();
}

std::vector<PhaseState> phaseStates(const std::vector<GateInfo>& gates)
{
    std::vector<PhaseState> states;
    std::string blockedBy;
    for (const std::string_view phase : kGatePhases) {
        PhaseState state;
        state.phase = phase;
        state.open = blockedBy.empty();
        state.blockedBy = blockedBy;
        const auto gate =
            std::find_if(gates.begin(), gates.end(), [phase](const GateInfo& g) { return g.phase == phase; });
        if (gate != gates.end()) {
            state.judged = !gate->verdict.empty();
            state.passed = gatePassed(*gate);
            state.overridden = !gate->overrideReason.empty();
        }
        if (!state.passed && blockedBy.empty())
            blockedBy = phase;
        states.push_back(std::move(state));
    }
    return states;
}

Status requireOpen(const std::string& phase, const std::vector<GateInfo>& gates)
{
    for (const PhaseState& state : phaseStates(gates)) {
        if (state.phase != phase)
            continue;
        if (state.open)
            return {};
        return Error{
            ErrorKind::Input, fmt::format("The gate {} is closed", phase),
            fmt::format("the gate before it, {}, has not passed", state.blockedBy),
            fmt::format("Judge it with lockstep-cli gate DIR {0}, or override it with --override \"reason\"",
                        state.blockedBy)};
    }
    return Error{ErrorKind::Usage, fmt::format("There is no gate called {}", phase),
                 fmt::format("known are {}", fmt::join(kGatePhases, ", ")), "Choose one of these"};
}

} // namespace lockstep
