// Phase 2 of a script of one's own. The engine cannot train it, so nothing is started: what the probe recorded is judged, and
// the checks that need a twin or DDP with one rank say that they are for the engine's workloads.
#pragma once

#include "core/gates/gradients_judge.h"

#include <string>
#include <vector>

namespace lockstep {

// Whether `run` repeats `baseline` but for the order of its sums: it starts from the same parameters and trains on the same
// samples for as many steps. Errors: what the readers report.
Result<bool> repeatsBaseline(RunReader& baseline, RunReader& run);

// `records`: one Baseline, one Ddp, any number of Repeat. `howToRepeat` is the sentence that says how more repeats of the
// single run are recorded. Checks that cannot be judged for any script do not keep the gate closed, nor does the envelope
// where repeats with other numbers of threads came out equal in every bit.
Result<GateInfo> judgeRecordedGradients(const std::vector<GradientsRecord>& records,
                                        const std::string& howToRepeat);

} // namespace lockstep
