#include "core/ckpt/listing.h"

#include "core/ckpt/parallel.h"
#include "core/ckpt/sha256.h"
#include "core/ckpt/tensor_bytes.h"
#include "core/ckpt/walk.h"

#include <algorithm>
#include <mutex>

namespace lockstep {
namespace {

// Logical bytes gone through even if the file is tiny: views repeat elements.
constexpr std::uint64_t kReadAlways = 32u << 20;

// What all lines together may read: a small multiple of what the file holds.
std::uint64_t readBudget(const Checkpoint& c)
{
    std::uint64_t bytes = kReadAlways;
    for (const StorageInfo& s : c.storages)
        bytes += 4 * std::min<std::uint64_t>(s.bytes, 1ULL << 50);
    for (const Piece& p : c.pieces)
        bytes += 4 * std::min<std::uint64_t>(p.length, 1ULL << 50);
    return bytes;
}

// Bytes to go through for a value; nullopt if it has none, or more than `allowed`.
std::optional<std::uint64_t> contentSize(const Checkpoint& c, Value v, std::uint64_t allowed)
{
    if (v.is(ValueKind::Storage))
        return std::min(c.storages[v.storageUse().storage].bytes, allowed);
    if (!v.is(ValueKind::Tensor))
        return std::nullopt;
    const TensorInfo& t = v.tensor();
    if (t.meta || (t.storage == kNone && t.pieceCount == 0) ||
        (t.storage != kNone && c.storages[t.storage].meta))
        return std::nullopt;
    const auto elements = c.elements(t);
    if (!elements || static_cast<std::uint64_t>(*elements) > allowed / itemSize(t.dtype))
        return std::nullopt;
    return static_cast<std::uint64_t>(*elements) * itemSize(t.dtype);
}

} // namespace

Listing::Listing(const Checkpoint& checkpoint)
{
    const WalkResult result = walkLeaves(checkpoint, [this](const Leaf& leaf) {
        Line line;
        line.node = leaf.value.id();
        line.cycle = leaf.cycle;
        line.packed = leaf.packed;
        line.path = paths_.size();
        line.pathSize = static_cast<std::uint32_t>(leaf.path.size());
        paths_ += leaf.path;
        line.target = paths_.size();
        line.targetSize = static_cast<std::uint32_t>(leaf.target.size());
        paths_ += leaf.target;
        lines_.push_back(std::move(line));
    });
    complete_ = result.complete;
    std::sort(lines_.begin(), lines_.end(),
              [this](const Line& a, const Line& b) { return path(a) < path(b); });
}

void Listing::readContents(const Checkpoint& checkpoint, int threads, std::vector<CkptProblem>& problems)
{
    std::uint64_t allowed = readBudget(checkpoint);
    std::vector<Line*> wanted;
    for (Line& line : lines_) {
        const auto size =
            line.cycle ? std::nullopt : contentSize(checkpoint, checkpoint.value(line.node), allowed);
        if (!size)
            continue;
        allowed -= *size;
        wanted.push_back(&line);
    }
    contents_.resize(wanted.size());
    std::mutex mutex; // guards problems
    parallelFor(wanted.size(), threads, [&](std::size_t i) {
        const Value v = checkpoint.value(wanted[i]->node);
        const bool tensor = v.is(ValueKind::Tensor);
        const auto bytes = tensor ? TensorBytes::open(checkpoint, v.tensor())
                                  : TensorBytes::openStorage(checkpoint, v.storageUse().storage);
        if (!bytes) {
            const std::lock_guard lock(mutex);
            problems.push_back(bytes.problem());
            return;
        }
        Sha256 sha;
        bytes->forEachBlock([&](std::span<const std::byte> block) {
            sha.update(block);
            if (tensor)
                accumulate(bytes->dtype(), block, contents_[i].stats);
            return true;
        });
        contents_[i].sha256 = sha.hex();
        wanted[i]->contents = static_cast<std::uint32_t>(i);
    });
}

} // namespace lockstep
