#include "core/ckpt/zero_flat.h"

#include <algorithm>

namespace lockstep {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1}
                                       << 44; // far above any rank; sums over ranks cannot overflow

} // namespace

bool ZeroFlat::append(Value tensor)
{
    if (!tensor.is(ValueKind::Tensor) || tensor.tensor().layout != Layout::Strided ||
        tensor.tensor().storage == kNone)
        return false;
    const auto count = tensor.checkpoint()->elements(tensor.tensor());
    if (!count || *count > kMostElements - size_)
        return false;
    segments_.push_back({tensor.tensorIndex(), size_, *count});
    size_ += *count;
    return true;
}

void ZeroFlat::append(const ZeroFlat& other)
{
    for (const Segment& s : other.segments_) {
        segments_.push_back({s.tensor, size_, s.count});
        size_ += s.count;
    }
}

void ZeroFlat::addPieces(Checkpoint& checkpoint, std::int64_t from, std::int64_t count,
                         std::int64_t first) const
{
    // The first segment that ends behind `from`.
    auto s = std::partition_point(segments_.begin(), segments_.end(),
                                  [from](const Segment& s) { return s.start + s.count <= from; });
    for (; s != segments_.end() && s->start < from + count; ++s) {
        const std::int64_t begin = std::max(from, s->start);
        const std::int64_t end = std::min(from + count, s->start + s->count);
        if (begin >= end)
            continue; // a tensor without elements
        Piece piece;
        piece.place = Piece::Place::Range;
        piece.tensor = s->tensor;
        piece.first = first + (begin - from);
        piece.count = end - begin;
        piece.sourceFirst = begin - s->start;
        checkpoint.pieces.push_back(piece);
    }
}

} // namespace lockstep
