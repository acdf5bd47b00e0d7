// What a run saves: model, optimizer, schedule, generators of every rank, place in the data. Plain dicts that
// Python's torch.load(weights_only=True) reads; the optimizer part loads with optimizer.load_state_dict.
#pragma once

#include "core/base/status.h"
#include "core/ckpt/dtype.h"
#include "core/ckpt/save_value.h"
#include "core/engine/bucket_layout.h"
#include "core/engine/replica.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace lockstep {

struct CheckpointWritten {
    std::string path;
    std::uint64_t bytes = 0;
};

// What differs between the ranks, gathered on the one that writes.
struct RankStates {
    void add(const at::Tensor& lanes); // the rows of RankLanes::states()

    std::vector<at::Tensor> generators;   // state of the CPU generator, by rank of the data (see RankLanes)
    std::vector<std::uint64_t> baseSeeds; // of the open epoch, by rank of the data
    std::vector<at::Tensor> buffers; // packBuffers() of every rank; empty with one rank or without buffers
    Buckets buckets;                 // layout of the flat gradients from the next step on; empty without DDP
};

// All buffers of a model as one row of bytes, and back.
at::Tensor packBuffers(const std::vector<at::Tensor>& buffers);
void unpackBuffers(const at::Tensor& packed, const std::vector<at::Tensor>& buffers);

DType dtypeOf(const at::Tensor& t);
// `t` lies on the CPU, is contiguous, and stays valid until the file is written.
SaveValue savedTensor(const at::Tensor& t);
// state_dict(): module by module, each one's parameters, then its buffers.
SaveValue modelState(Replica& replica);

// Writes <runFolder>/checkpoints/step_NNNNNNNN.pt under a temporary name, flushes it to the disk, renames it.
// Only the writing rank calls this.
Result<CheckpointWritten> writeCheckpoint(const std::string& runFolder, Replica& replica,
                                          const RankStates& states);

} // namespace lockstep
