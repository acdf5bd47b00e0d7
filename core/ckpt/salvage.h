// Saves what is whole in a damaged file: tensors whose bytes are there and fit their checksums go into a new file, the
// others are named.
#pragma once

#include "core/ckpt/checkpoint.h"
#include "core/ckpt/convert.h"

#include <string>
#include <vector>

namespace lockstep {

struct SalvagePlan {
    std::vector<std::string> keysWhole; // names as in listTensors()
    std::vector<std::string> keysLost;
    std::vector<std::string> recordsWhole; // zip only
    std::vector<std::string> recordsLost;  // named by the pickle, or begun and not finished
    bool treeKnown = false;                // the pickle is whole, so keys can be named
};

// What can be saved, without writing. Never fails: a file nothing can be read from gives an empty plan.
SalvagePlan planSalvage(const std::string& path);

// Writes the whole tensors, and everything in the tree that is no tensor, to `output`. Fails (Input) if no key can be named
// or none is whole.
Result<ConvertReport> salvage(const std::string& path, const std::string& output,
                              const ConvertOptions& options = {});

} // namespace lockstep
