// How much of each storage its tensors use: a view saved with torch.save drags the whole storage behind it along.
#pragma once

#include "core/ckpt/checkpoint.h"

#include <string>
#include <vector>

namespace lockstep {

struct StorageUsage {
    std::uint32_t storage = 0;
    std::uint64_t storedBytes = 0;
    std::uint64_t usedBytes =
        0; // covered by at least one tensor; an upper bound for tensors with gaps inside
    std::vector<std::string> keys; // names of the tensors over it
};

// One entry per storage with at least one tensor, in the order of the storages.
std::vector<StorageUsage> storageUsage(const Checkpoint& checkpoint);

// A legal view can repeat a few bytes 2^62 times (stride 0). True if the tensor's elements, written out, are far more than the
// checkpoint holds, so that going through them one by one would not end: over 64 MiB and over 16 times the size of all its files.
bool repeatsBeyondReason(const Checkpoint& checkpoint, const TensorInfo& tensor);

// The same for all tensors that are gone through one after the other: thousands of views, each just within reason, are not.
class RepeatBudget
{
public:
    explicit RepeatBudget(const Checkpoint& checkpoint);
    // False if the elements of this tensor are too many, counted with those spent before.
    bool spend(const TensorInfo& tensor);

private:
    const Checkpoint& checkpoint_;
    std::uint64_t left_;
};

} // namespace lockstep
