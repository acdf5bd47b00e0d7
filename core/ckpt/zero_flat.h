// Tensors laid one behind the other, as DeepSpeed keeps the parameters of a rank, and ranges of them.
#pragma once

#include "core/ckpt/checkpoint.h"

namespace lockstep {

class ZeroFlat
{
public:
    // Puts a tensor at the end. False: not a tensor with bytes of its own, or larger than any file holds.
    bool append(Value tensor);
    void append(const ZeroFlat& other);

    std::int64_t size() const { return size_; } // elements
    // A tensor that lies in it; kNone if there is none.
    std::uint32_t anyTensor() const { return segments_.empty() ? kNone : segments_.front().tensor; }

    // Adds pieces to `checkpoint` that put elements [from, from + count) to `first` of the tensor that is being built. The range
    // lies in [0, size()).
    void addPieces(Checkpoint& checkpoint, std::int64_t from, std::int64_t count, std::int64_t first) const;

private:
    struct Segment {
        std::uint32_t tensor;
        std::int64_t start;
        std::int64_t count;
    };
    std::vector<Segment> segments_;
    std::int64_t size_ = 0;
};

} // namespace lockstep
