// Phase 4: judges one drill by what its run recorded. The timeline is read from the run's events, so that the window, the
// command line and the report tell the same story.
#pragma once

#include "core/gates/drill_plan.h"
#include "core/store/project_store.h"
#include "core/store/run_reader.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// One line of "who knew what when". Seconds count from the moment in which something broke.
struct TimelineEntry {
    double seconds = 0;
    int rank = -1;    // -1: the host
    std::string kind; // "breaks", "noticed", "exit", "verdict"
    std::string text;
};

// What the drill left behind, seen from outside the run.
struct DrillRemains {
    std::vector<std::int64_t> processes;
    std::string checkpoint;      // newest complete one; empty: none
    std::string checkpointFault; // why it cannot be used; empty: sound
};

struct DrillOutcome {
    Drill drill;
    std::string runId;
    bool holds = false;
    std::int64_t step = -1; // in which it broke, as far as the records go
    double limit = 0;
    double goneAfter = 0;       // until the last survivor had ended; slow: the longest step
    double firstNotice = 0;     // until the first rank other than the broken one noticed; 0: nobody had to
    int namedRank = -1;         // by the verdict
    int survivors = 0;          // ranks other than the broken one
    int survivorsNaming = 0;    // of them, those whose own error names the broken rank
    std::int64_t lostSteps = 0; // since the last checkpoint
    std::string sentence;       // the verdict of the run
    std::vector<TimelineEntry> timeline;
    std::vector<GateCheck> checks;
};

// Errors: what the reader reports. A drill that does not hold is a value.
Result<DrillOutcome> judgeDrill(const Drill& drill, const RunInfo& run, RunReader& reader,
                                const DrillRemains& remains);

} // namespace lockstep
