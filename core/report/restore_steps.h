// The numbered steps of "How to restore": `run --resume` for the engine's runs. Those of a user's own script it cannot resume,
// their own command can.
#pragma once

#include "core/config/run_extras.h"
#include "core/store/project_store.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// `usable`: checkpoints of the engine that are there, the newest first; at least one.
std::vector<std::string> restoreSteps(const std::string& folder, const std::vector<CheckpointSeen>& usable);

struct ScriptRestore {
    std::string project;    // folder
    std::string run;        // id of the run that wrote the file
    std::string checkpoint; // path
    std::int64_t step = -1;
    ScriptCommand command;                     // of that run
    std::optional<ScriptCommand> onOneProcess; // of the newest run in one process, if that is another command
};
std::vector<std::string> restoreSteps(const ScriptRestore& from);

} // namespace lockstep
