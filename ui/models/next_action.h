// What now? One answer for the whole project: the most urgent thing, with its numbers and the button that does it.
// A pure function, so that every case is a test.
#pragma once

#include "ui/models/project_snapshot.h"
#include "ui/models/roles.h"
#include "ui/models/run_verdict.h"

#include <QString>

namespace lockstep {

struct NextAction {
    enum class Command {
        None,
        NewRun,
        UseScript,
        StartPair,
        StartRun,
        StopRun,
        Rerun,
        OpenCurves,
        OpenRuns,
        OpenPhase
    };
    struct Button {
        Command command = Command::None;
        QString text;
        QString target; // run id or phase id
        QString mode;   // NewRun, StartRun: the mode to start with
    };

    State state = State::Waiting;
    QString title;
    QString sentence;
    Button primary, secondary;
    Button other;         // a second way to begin; only where there is nothing yet
    double progress = -1; // 0 to 1; below 0: no bar
};

// The configuration that a first click starts: `workload` in one process or as DDP over two ranks, on the same batches.
RunConfig starterConfig(const std::string& workload, const std::string& mode, int world = 2);

NextAction nextAction(const ProjectSnapshot& snapshot, const RunVerdicts& verdicts);

// The run that `run` is compared with unless the user says otherwise, the strictest one there is:
// 1. a twin of the same configuration; 2. for a run with a fault, the newest run that differs in the fault only;
// 3. the newest single run on the same global batches; 4. the newest single run of the same workload and seeds; 5. for a
// user's script, the newest single run of a script of the same folder, before it or after it.
// For a single run: the oldest run of the same configuration, if it is another one. Empty when there is none.
QString referenceRun(const ProjectSnapshot& snapshot, const RunEntry& run);

} // namespace lockstep
