// What the project's row of a run says at its end; the same for ranks of ours and for a user's command. Private to core/host.
#pragma once

#include "core/host/recorder.h"
#include "core/host/root_cause.h"
#include "core/store/run_info.h"

#include <string>

namespace lockstep {

// Takes the verdict and what `recorder` committed over into `info`. A `recorderError` that is not empty outranks the verdict:
// a run that could not be recorded has failed, however its ranks ended.
void closeRow(RunInfo& info, RunVerdict& verdict, const Recorder& recorder, const std::string& recorderError);

} // namespace lockstep
