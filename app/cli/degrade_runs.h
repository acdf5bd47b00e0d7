// Plays the escape hatch: a run that loses a rank, goes on with fewer, and gets its ranks back. Shared by `drill` and
// `gate DIR drills`.
#pragma once

#include "app/cli/drill_runs.h"
#include "core/gates/degrade_judge.h"

#include <memory>

namespace lockstep {

struct DegradeSetup {
    DrillSetup drill;
    std::int64_t steps = 1000;
    bool toOneProcess = false; // otherwise on as many ranks as are left and divide the run's
    bool backUp = true;        // and to all ranks again
};

// What all cycles are held against: the training without interruption, and the envelope of correct repeats of it.
class DegradeReference
{
public:
    // Runs the training once as it is and some times in other ways that are allowed: other orders of sums.
    static Result<DegradeReference> measure(const DrillSession& session, const DegradeSetup& setup);

    RunReader& whole() { return readers_.front(); }
    const Envelope& envelope() const { return envelope_; }

private:
    std::vector<RunReader> readers_;
    Envelope envelope_;
};

// One run with one or two changes of world; where it breaks is drawn from `random`.
Result<DegradeOutcome> playDegrade(const DrillSession& session, const DegradeSetup& setup,
                                   DegradeReference& reference, std::uint64_t random);

void writeOutcome(JsonDocument& json, const DegradeOutcome& outcome);
GateCheck gateCheck(const DegradeOutcome& outcome);

} // namespace lockstep
