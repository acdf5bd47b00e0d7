// Bytes of an opened checkpoint on their way into a new file: read, and converted if wanted, while the new file is written.
#pragma once

#include "core/ckpt/checkpoint.h"
#include "core/ckpt/save_value.h"

namespace lockstep {

using ByteSource = std::function<Status(const ByteSink&)>;

// The elements of a tensor in row-major order, as type `to` if one is given. `checkpoint` must outlive the source. Pages of mapped
// files are let go after use.
ByteSource elementsOf(const Checkpoint& checkpoint, std::uint32_t tensor, std::optional<DType> to);

// A whole storage as it is.
ByteSource storageBytesOf(const Checkpoint& checkpoint, std::uint32_t storage);

} // namespace lockstep
