// Writes a safetensors file: a JSON header with name, type, shape and byte range of each tensor, then the bytes. The format has
// no strides and no sharing, so tensors are written row-major and tied ones once for each name.
#pragma once

#include "core/ckpt/save_tree.h"

namespace lockstep {

// Atomic like writeTorchZip(). Errors: Usage for a type the format does not have, Io, and Corrupt where bytes cannot be read.
Result<WrittenCheckpoint> writeSafetensors(const std::string& path, const Checkpoint& source,
                                           const std::vector<SaveEntry>& tensors, bool durable = true);

} // namespace lockstep
