#include "core/host/run_row.h"

#include <QDateTime>

namespace lockstep {

void closeRow(RunInfo& info, RunVerdict& verdict, const Recorder& recorder, const std::string& recorderError)
{
    if (!recorderError.empty()) {
        verdict.state = RunState::Failed;
        verdict.firstFailure = {-1, recorder.committedStep(), recorderError};
        verdict.kind = ErrorKind::RunFailed;
    }
    info.state = verdict.state;
    info.exitCodes = verdict.exitCodes;
    info.firstFailure = verdict.firstFailure;
    info.endedUnixMs = QDateTime::currentMSecsSinceEpoch();
    info.lastStep = recorder.committedStep();
    info.lastLoss = recorder.committedLoss();
}

} // namespace lockstep
