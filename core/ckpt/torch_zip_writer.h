// Writes a torch file (the zip form of torch.save) that torch.load(weights_only=True) of 1.13 and later
// accepts. Atomic: an older file of that name stays whole until the new one is complete on the disk. Any
// thread; no shared state.
#pragma once

#include "core/ckpt/save_value.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

struct TorchZipOptions {
    std::string folder = "archive"; // name in front of every entry; torch takes whatever stands there
    bool durable = true;            // false: no fsync
};

struct WrittenCheckpoint {
    std::uint64_t bytes = 0;
    std::string needsTorch;                  // oldest torch that loads it with weights_only=True
    std::vector<std::string> newerBecauseOf; // element types behind that
};

// Errors: Usage for a tree that cannot be written (see pickle_writer.h), Io for the disk. On any error the
// old file, or its absence, is unchanged and no temporary file is left.
Result<WrittenCheckpoint> writeTorchZip(const std::string& path, const SaveValue& root,
                                        const TorchZipOptions& options = {});

} // namespace lockstep
