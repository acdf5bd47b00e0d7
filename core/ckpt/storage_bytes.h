// The bytes of one storage, wherever they lie.
#pragma once

#include "core/ckpt/checkpoint.h"

#include <memory>

namespace lockstep {

struct StorageBytes {
    std::span<const std::byte> bytes;
    std::shared_ptr<const std::byte[]> inflated; // keeps `bytes` alive if the record was compressed
};

// Problems: RecordMissing, RecordSize (shorter than announced), ZipLocalHeader, ZipInflate, LegacyStorage ...
CkptResult<StorageBytes> storageBytes(const Checkpoint& checkpoint, std::uint32_t storage);

} // namespace lockstep
