// What one run shows by itself, without a second one to hold it against: states no correct training has.
#pragma once

#include "core/align/diagnose.h"

#include <string>
#include <vector>

namespace lockstep {

struct LintFinding {
    // Stable: "nonfinite_gradient", "nonfinite_loss", "logged_loss", "ranks_differ", "scaler_one_rank", "epoch_order_repeats",
    // "no_update", "evaluation_counts".
    std::string check;
    Finding finding; // causes: catalogue ids, best first; empty where the catalogue has none
};

struct Lint {
    std::vector<LintFinding> findings; // in order of steps
    std::vector<std::string> checked;  // checks the records allowed
    std::vector<std::string> problems; // and what was missing for the others
};

// Errors: reading.
Result<Lint> lintRun(const DiagnosedRun& run);

} // namespace lockstep
