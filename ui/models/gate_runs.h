// The runs that a gate makes, as one strip of progress: which of them are done, which one trains now. A pure
// function of the snapshot, so that it works for a gate started in a terminal too.
#pragma once

#include "ui/models/project_snapshot.h"
#include "ui/models/roles.h"

#include <QString>

#include <vector>

namespace lockstep {

struct GateRunCell {
    QString title;  // "DDP, 4 ranks"
    QString detail; // "148 of 240", "0:06", "waiting"
    State state = State::Waiting;
    double progress = 0; // 0 to 1
};

struct GateRuns {
    std::vector<GateRunCell> cells;      // empty: the gate never ran
    QString baseline, ddp, random, twin; // run ids; empty: not there yet, or not part of the gate
    QString running;                     // the one that trains now; empty: none
};

// Of the newest judgement: its baseline and what was started after it.
GateRuns gradientsGateRuns(const ProjectSnapshot& snapshot);
GateRuns precisionGateRuns(const ProjectSnapshot& snapshot);

} // namespace lockstep
