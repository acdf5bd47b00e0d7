// Turns the tree of a checkpoint into values that can be written (save_value.h): plain types, shared containers and
// storages kept, foreign objects replaced by their plain contents.
#pragma once

#include "core/ckpt/convert.h"
#include "core/ckpt/parts.h"

namespace lockstep {

// One tensor of the new file.
struct SaveEntry {
    std::string name;
    SaveTensor tensor;
    std::uint32_t source = kNone; // index into Checkpoint::tensors
};

struct SaveTree {
    SaveValue root;                 // for torch's format
    std::vector<SaveEntry> tensors; // for safetensors: the state dict of the model, or all tensors
    ConvertReport report;
};

// Bytes are not read; the values read them from `checkpoint`, which must outlive them.
Result<SaveTree> buildSaveTree(const Checkpoint& checkpoint, const ConvertOptions& options);

} // namespace lockstep
