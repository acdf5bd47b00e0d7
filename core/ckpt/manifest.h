// The JSON of `ckpt ls --json`: the form of corpus/README.md.
#pragma once

#include "core/ckpt/checkpoint.h"

#include <string>

namespace lockstep {

struct ManifestOptions {
    bool hash = true; // SHA-256, statistics and CRC: reads every byte
    int threads = 0;
};

// `checkpoint.problems` grows by what the integrity check finds.
std::string manifestJson(Checkpoint& checkpoint, const ManifestOptions& options);

} // namespace lockstep
