// Phase 3: judges what was found in the checkpoint that the ranks saved.
#pragma once

#include "core/store/project_store.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// The checkpoint that the ranks saved half-way, opened once by our own reader and once by Python's torch.
struct CheckpointFacts {
    std::string path;
    std::string fault; // why our own reader does not accept it; empty: every byte was checked
    std::int64_t keys = 0;
    std::vector<std::string> prefixed; // keys that DDP left its "module." on
    std::vector<std::string> present;  // "model float32", "optimizer", "scheduler", ...
    std::vector<std::string> missing;  // parts a resume needs and does not find
    bool pythonAsked = false;          // false: there is no Python with torch here
    std::string python;                // what it said
    bool pythonLoads = false;
    std::int64_t pythonTensors = 0;
};

// Whether it opens, has keys without prefixes and all parts, and loads in Python.
std::vector<GateCheck> judgeCheckpoint(const CheckpointFacts& checkpoint);

} // namespace lockstep
