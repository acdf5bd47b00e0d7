// run --resume: what the command line leaves open is taken from the run that wrote the checkpoint.
#pragma once

#include "core/base/status.h"
#include "core/config/run_config.h"

#include <CLI/CLI.hpp>

#include <string>

namespace lockstep {

// The configuration stored in the checkpoint with the options that `command` was given, as `given` has them. Name, faults
// and place of the data are never taken over. Errors: the file cannot be read, or is no checkpoint of a run.
Result<RunConfig> configFromCheckpoint(const CLI::App& command, const RunConfig& given);

} // namespace lockstep
