// Loads a checkpoint with Python's torch, in a process of its own, with weights_only=True: the independent second opinion.
#pragma once

#include "core/base/status.h"

#include <cstdint>
#include <string>

namespace lockstep {

struct PythonLoad {
    std::string torch; // its version
    bool ok = false;
    std::int64_t tensors = 0;
    std::uint64_t bytes = 0;
    std::string error; // what torch said, where it refused
    std::string json;  // the answer as it came
};

// `python`: the interpreter; empty: LOCKSTEP_PYTHON, that of an active virtual environment, or python3. Needs a
// QCoreApplication. Errors: Environment where there is no Python with torch, or with safetensors for such a file; Input where the process broke or took too
// long. A file that torch refuses is a value.
Result<PythonLoad> loadWithPython(const std::string& path, const std::string& python, int timeoutSeconds);

} // namespace lockstep
