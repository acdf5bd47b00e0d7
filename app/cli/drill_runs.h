// Plays drills on real processes and judges what they recorded. Shared by `drill` and `gate DIR drills`.
#pragma once

#include "app/cli/json_output.h"
#include "core/gates/drill_judge.h"
#include "core/gates/timeout_advice.h"
#include "core/host/stop_signals.h"

#include <string>

namespace lockstep {

struct DrillSession {
    std::string projectFolder;
    std::string worker; // see findWorker()
    StopSignals& signals;
};

// The healthy run, and the timeout it recommends. Errors: the run could not begin or did not finish.
Result<TimeoutAdvice> measureTimeout(const DrillSession& session, const DrillSetup& setup);

// Errors: the run could not begin, or its records cannot be read. A drill that does not hold is a value.
Result<DrillOutcome> playDrill(const DrillSession& session, const Drill& drill);

// Members of a JSON object that the caller opens and closes.
void writeAdvice(JsonDocument& json, const TimeoutAdvice& advice);
void writeOutcome(JsonDocument& json, const DrillOutcome& outcome);

// One check of the gate for one drill, with its timeline as evidence.
GateCheck gateCheck(const DrillOutcome& outcome);
GateCheck gateCheck(const TimeoutAdvice& advice);

} // namespace lockstep
