// What a run saves: model, optimizer, schedule, generators of every rank, place in the data. Plain dicts that
// Python's torch.load(weights_only=True) reads; the optimizer part loads with optimizer.load_state_dict.
#pragma once

#include "core/base/status.h"
#include "core/engine/replica.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace lockstep {

struct CheckpointWritten {
    std::string path;
    std::uint64_t bytes = 0;
};

// Writes <runFolder>/checkpoints/step_NNNNNNNN.pt under a temporary name, flushes it to the disk, renames it.
// `generators`: the CPU generator state of every rank. Only the writing rank calls this.
Result<CheckpointWritten> writeCheckpoint(const std::string& runFolder, Replica& replica,
                                          const std::vector<at::Tensor>& generators);

} // namespace lockstep
