// Where the elements of a tensor come from: a view of a storage, a storage as it is, or pieces of other tensors. Used by
// TensorBytes only.
#pragma once

#include "core/ckpt/checkpoint.h"
#include "core/ckpt/storage_bytes.h"

#include <memory>

namespace lockstep {

struct ElementSource {
    virtual ~ElementSource() = default;
    // All elements in row-major order if they lie so in memory, else nullptr.
    virtual const std::byte* contiguous() const { return nullptr; }
    // Elements [first, first + count) in row-major order, little-endian. Any thread.
    virtual void read(std::uint64_t first, std::uint64_t count, std::byte* out) const = 0;
};

// Bytes that are swapped together in a big-endian storage; 1: none.
std::size_t swapUnit(const StorageInfo& storage);

// A view with strides; the caller has checked its bounds.
std::unique_ptr<ElementSource> stridedSource(StorageBytes storage, const Checkpoint& checkpoint,
                                             const TensorInfo& tensor);
// The storage's bytes, one element each.
std::unique_ptr<ElementSource> rawSource(StorageBytes storage, std::size_t swapUnit);
// The pieces of a sharded tensor; opens DCP items.
CkptResult<std::unique_ptr<ElementSource>> piecedSource(const Checkpoint& checkpoint,
                                                        const TensorInfo& tensor);

// A problem at the place of the tensor's storage.
CkptProblem tensorProblem(const Checkpoint& checkpoint, const TensorInfo& tensor, CkptFault fault,
                          std::string why);

} // namespace lockstep
