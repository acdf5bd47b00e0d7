// What stands in the JSON document of a run beside its RunConfig, because no rank needs it: how the run was started. With it
// a run can be repeated as it was.
#pragma once

#include "core/base/status.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// A user's own command as `probe` started it: the member "command". Runs of one script with other arguments are told apart
// by it. Not kept: the environment of the command.
struct ScriptCommand {
    std::vector<std::string> words; // as typed: "python", "train.py", "--lr", "0.1"
    std::string program;            // absolute path of words[0] as PATH had it then; empty: not found
    std::string folder;             // working folder, absolute
    int world = 1;                  // ranks it starts
    bool ddp = false;               // recorded as several ranks, also where it starts only one
    int threads = 1;
    std::string record = "step"; // off | step | tensor
    std::string metric;          // pattern of the printed loss; empty: none

    bool operator==(const ScriptCommand&) const = default;
};

// The configuration with the member "command" added or replaced. A text that is no JSON object is given back unchanged.
std::string withScriptCommand(const std::string& configJson, const ScriptCommand& command);
// Nothing for runs of the engine, and for what is not readable.
std::optional<ScriptCommand> scriptCommandOf(const std::string& configJson);

// What the run does when ranks are lost: the member "on_loss", a word of `run --on-loss` (stop | survivors | one). Without the
// member it stops.
std::string withOnLoss(const std::string& configJson, const std::string& word);
std::string onLossOf(const std::string& configJson);

} // namespace lockstep
