// Opens any checkpoint: sniffs the content (never the name), reads its structure, executes nothing.
#pragma once

#include "core/ckpt/checkpoint.h"

#include <cstddef>
#include <span>
#include <string>

namespace lockstep {

struct OpenOptions {
    // Folders: read the non-tensor items of DCP files and the shards of an index. Off, only metadata is read.
    bool readItems = true;
};

// Fails only if the path cannot be opened at all (absent, no right, neither file nor folder). What is wrong
// with the content is in Checkpoint::problems, and whatever could be read is in the tree. Tensor bytes are
// not touched; memory is bounded by a small multiple of the bytes of the pickles or headers read.
Result<Checkpoint> openCheckpoint(const std::string& path, const OpenOptions& options = {});

// The same for bytes in memory (tests, fuzzing). `name` decides nothing but the extension check.
Checkpoint openCheckpointBytes(std::span<const std::byte> bytes, const std::string& name);

} // namespace lockstep
