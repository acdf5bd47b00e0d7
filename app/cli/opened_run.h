// A run of a project, opened for reading.
#pragma once

#include "core/config/run_config.h"
#include "core/store/project_store.h"
#include "core/store/run_reader.h"

#include <string>

namespace lockstep {

struct OpenedRun {
    RunInfo info;
    RunConfig config;
    RunReader reader;
};

// `name`: id or name. Errors: no such run, or it cannot be read.
Result<OpenedRun> openRun(ProjectStore& project, const std::string& name);

} // namespace lockstep
