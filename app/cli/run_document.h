// A run as the JSON of `run`, `runs` and `stop`, and as a line for people.
#pragma once

#include "app/cli/json_output.h"
#include "core/store/run_info.h"

namespace lockstep {

// The members of "run": {"run","name","state","exit","first_failure"}; with `full` also configuration,
// environment, times and the last step. The caller opens and closes the object.
void writeRunMembers(JsonDocument& json, const RunInfo& run, bool full);
void printRunDocument(const RunInfo& run);

// What a starter gets to know of a run that has just begun: a JSON document, or the line for people.
std::string beginningText(const RunInfo& run, bool json);

// The run as a line for people, and what broke it as a warning.
void printRunLine(const RunInfo& run);

// "12.3 s": how long the run took, or has taken so far.
std::string durationText(const RunInfo& run, std::int64_t nowUnixMs);

} // namespace lockstep
