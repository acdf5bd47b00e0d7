// Causes that are the same bits in one run, told apart by two short ones: the same runs with one count changed.
#pragma once

#include "app/cli/diagnose_session.h"
#include "core/align/diagnose/class_separation.h"

#include <string>
#include <vector>

namespace lockstep {

struct Separation {
    std::string runA, runB;          // the pair whose finding was a class
    std::vector<std::string> causes; // of the class
    align::SeparatingChange change;
    std::vector<std::string> remains; // of them; empty: none explains the new pair
};

// Runs the two into the project, opens them as `after` and judges them; with `prove` by replay, too. The finding of the
// first pair then names what remains. Errors: no class there, or one that no run can tell apart; a script of the user's,
// which nothing here can start with another count; a run that did not finish; Cancelled.
Result<Separation> separateCauses(CliContext& context, ProjectStore& project, DiagnoseSession& before,
                                  bool proveIt, DiagnoseSession& after);

} // namespace lockstep
