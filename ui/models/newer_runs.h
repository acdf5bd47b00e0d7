// Whether a verdict still speaks for the newest training. A gate and a finding keep the runs they were judged on; once the
// training was mended and run again, they are history. Pure functions of the snapshot.
#pragma once

#include "ui/models/project_snapshot.h"

#include <QString>
#include <QStringList>

namespace lockstep {

// The newest run that took the place of this one: of the same workload, or the same script in the same folder, with the same mode and
// number of ranks, finished and not made by a gate or a drill. Null: it is the newest itself.
const RunEntry* newerRun(const ProjectSnapshot& snapshot, const RunEntry& run);

// The ids of the runs a gate was judged on; empty: it was judged on the plan, or says nothing of runs.
QStringList judgedRuns(const GateInfo& gate);

// The runs that took the place of those a verdict was judged on; empty: it speaks for the newest. A run that is gone counts
// for nothing, and of a finding only its B does: a reference that ran once more mends nothing.
QStringList newerRuns(const ProjectSnapshot& snapshot, const GateInfo& gate);
QStringList newerRuns(const ProjectSnapshot& snapshot, const FindingRow& finding);

// "Judged on one-01 and two-01; newer runs exist: two-02". Empty where no runs are known.
QString judgedOnSentence(const ProjectSnapshot& snapshot, const GateInfo& gate);

} // namespace lockstep
