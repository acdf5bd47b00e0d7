// Reads logs of other tools: TensorBoard event files, .wandb files, Trackio databases, trainer_state.json of Hugging Face,
// metrics.csv of Lightning, and what Megatron-LM and torchtitan print. The format is found by content. Nothing is written
// to the input, and no database is opened in place for writing. Any thread.
#pragma once

#include "core/base/status.h"
#include "core/logs/log_data.h"

#include <string>
#include <vector>

namespace lockstep {

// A file, or a folder with everything below it. Damage is a problem in the value; a log without values yet has no series. Errors: there is no such path, or nothing in
// it is a log of a known format.
Result<LogData> readLogs(const std::string& path);

// A quick look at whether readLogs would find anything: the beginning of the file, or of the first hundred files below the folder.
bool holdsLogs(const std::string& path);

} // namespace lockstep
