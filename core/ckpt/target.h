// What the user wants to load a checkpoint into: a model's keys and shapes, an optimizer's groups, the number
// of ranks. Read from a JSON file, or taken from another checkpoint.
#pragma once

#include "core/base/status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct Target {
    using Shape = std::vector<std::int64_t>;

    std::vector<std::pair<std::string, Shape>> model; // in the order given
    bool hasOptimizer = false;
    std::vector<std::int64_t> optimizerGroups; // sizes
    std::vector<Shape> optimizerParams;        // shapes in order
    std::vector<std::string> optimizerNames;   // parameter names in order, if known
    std::optional<std::int64_t> worldSize;
    std::vector<std::vector<std::string>> tied;  // keys that share one parameter
    std::map<std::string, std::int64_t> devices; // device type -> how many there are; empty: not said
    bool devicesGiven = false;
    std::string torchVersion;
    std::string numpyVersion;
    std::string modelIs; // "DTensor": the model is sharded with FSDP2
    std::string amp;     // "fp16": a gradient scaler is in use
    bool resume = false;

    const Shape* find(const std::string& key) const;
};

// JSON with the fields model {key: shape}, optimizer {groups, params, names}, world_size, tied, devices,
// torch, numpy, model_is, amp, resume; unknown fields are ignored. Any other file is opened as a checkpoint
// whose model is the target.
Result<Target> readTarget(const std::string& path);

// "2.15.0" -> {2, 15, 0}; missing parts are 0.
std::vector<int> parseVersion(const std::string& text);

} // namespace lockstep
