// Phase 4: judges a run that lost ranks, went on with fewer, and got them back, against the same training without
// interruption. What has to hold: no sample of an epoch is lost or seen twice, and the loss of every step is inside the
// measured envelope.
#pragma once

#include "core/align/envelope.h"
#include "core/store/project_store.h"
#include "core/store/run_reader.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// Mean loss of every optimizer step over all ranks that took part in it, weighted by samples.
struct LossCurve {
    std::vector<std::int64_t> steps;
    std::vector<double> values;
};
Result<LossCurve> lossOverRanks(RunReader& run);

struct DegradeOutcome {
    std::string runId;
    bool holds = false;
    std::vector<SegmentInfo> segments;
    std::int64_t steps = 0;     // compared
    std::int64_t lostSteps = 0; // done twice, because the last checkpoint was older
    std::int64_t samples = 0;   // seen, over all whole epochs
    std::int64_t epochs = 0;    // whole ones
    std::int64_t repeated = 0;
    std::int64_t missing = 0;
    double worst = 0; // largest distance in units of its limit; 1 is the edge
    std::int64_t worstStep = -1;
    double apart = 0;    // largest distance relative to the loss
    double ofSpread = 0; // largest distance in units of what the correct runs differed by up to that step
    std::vector<GateCheck> checks;
};

// `run` is the project's entry of the interrupted run; `transitions`: how many changes of world it should have made.
// Errors: what the readers report; an envelope that has no band for the loss.
Result<DegradeOutcome> judgeDegrade(const RunInfo& run, RunReader& interrupted, RunReader& whole,
                                    const Envelope& envelope, int transitions);

} // namespace lockstep
