// Pickles a value tree with protocol 2 and the opcodes that weights_only=True of every torch since 1.13
// understands.
#pragma once

#include "core/ckpt/save_value.h"

#include <string>
#include <vector>

namespace lockstep {

struct PickledTree {
    std::string bytes;
    std::vector<SaveStoragePtr> storages; // record data/<index>, in order of first use
    // The oldest torch whose weights_only=True loads it: "1.13", or "2.1" where a type needs
    // _rebuild_tensor_v3.
    std::string needsTorch = "1.13";
    std::vector<std::string> newerBecauseOf; // the element types that made it so
};

// Fails (kind Usage) on a tensor that leaves its storage, on nesting deeper than 1,000 (Python's own pickler
// stops there too) and on a global outside the list that weights_only=True accepts.
Result<PickledTree> pickleTree(const SaveValue& root);

} // namespace lockstep
