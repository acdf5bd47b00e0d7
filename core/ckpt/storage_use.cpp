#include "core/ckpt/storage_use.h"

#include "core/ckpt/bytes.h"
#include "core/ckpt/strides.h"
#include "core/ckpt/walk.h"

#include <algorithm>
#include <map>
#include <optional>

namespace lockstep {
namespace {

struct Range {
    std::uint64_t first = 0;
    std::uint64_t end = 0;      // one past the last element
    std::uint64_t elements = 0; // fewer than end - first where the strides leave gaps
};

// Elements a tensor touches; nullopt if it leaves any sane range (reported elsewhere).
std::optional<Range> touched(const Checkpoint& checkpoint, const TensorInfo& tensor)
{
    const auto shape = checkpoint.shape(tensor), stride = checkpoint.stride(tensor);
    const auto end = viewEnd(shape, stride, tensor.offset);
    if (!end)
        return std::nullopt;
    Range range;
    if (*end == 0)
        return range;
    range.first = static_cast<std::uint64_t>(tensor.offset);
    range.end = static_cast<std::uint64_t>(*end);
    range.elements = 1;
    for (std::size_t i = 0; i < shape.size(); ++i)
        // A dimension of stride 0 repeats the same elements.
        if (stride[i] > 0 && !mulInto(range.elements, static_cast<std::uint64_t>(shape[i]), range.elements))
            return std::nullopt;
    range.elements = std::min(range.elements, range.end - range.first);
    return range;
}

} // namespace

std::vector<StorageUsage> storageUsage(const Checkpoint& checkpoint)
{
    struct Entry {
        StorageUsage use;
        std::vector<Range> ranges; // in bytes
    };
    std::map<std::uint32_t, Entry> entries;
    for (const TensorLeaf& leaf : listTensors(checkpoint)) {
        const TensorInfo& tensor = *leaf.tensor;
        if (tensor.storage == kNone || !tensor.strides)
            continue;
        const auto range = touched(checkpoint, tensor);
        if (!range)
            continue;
        Entry& entry = entries[tensor.storage];
        entry.use.keys.push_back(leaf.name);
        const std::uint64_t size = itemSize(tensor.dtype);
        entry.ranges.push_back({range->first * size, range->end * size, range->elements * size});
    }
    std::vector<StorageUsage> usage;
    for (auto& [index, entry] : entries) {
        entry.use.storage = index;
        entry.use.storedBytes = checkpoint.storages[index].bytes;
        std::sort(entry.ranges.begin(), entry.ranges.end(),
                  [](const Range& a, const Range& b) { return a.first < b.first; });
        // Overlapping tensors: within the stretch they cover together, no more than the sum of their elements.
        std::uint64_t begin = 0, end = 0, elements = 0;
        const auto close = [&, &use = entry.use] { use.usedBytes += std::min(elements, end - begin); };
        for (const Range& range : entry.ranges) {
            if (range.first >= end) {
                close();
                begin = range.first;
                end = range.end;
                elements = range.elements;
            } else {
                end = std::max(end, range.end);
                elements += range.elements;
            }
        }
        close();
        entry.use.usedBytes = std::min(entry.use.usedBytes, entry.use.storedBytes);
        usage.push_back(std::move(entry.use));
    }
    return usage;
}

namespace {

constexpr std::uint64_t kAlways = 64u << 20;
constexpr std::uint64_t kTimesHeld = 16;

// Bytes of the elements, written out; nullopt if no number holds them.
std::optional<std::uint64_t> writtenOut(const Checkpoint& checkpoint, const TensorInfo& tensor)
{
    const auto elements = checkpoint.elements(tensor);
    std::uint64_t bytes = 0;
    if (!elements || *elements < 0 ||
        __builtin_mul_overflow(static_cast<std::uint64_t>(*elements), std::uint64_t{itemSize(tensor.dtype)},
                               &bytes))
        return std::nullopt;
    return bytes;
}

std::uint64_t heldBytes(const Checkpoint& checkpoint)
{
    std::uint64_t held = 0;
    for (const auto& file : checkpoint.files)
        held += file ? file->size() : 0;
    return held;
}

} // namespace

bool repeatsBeyondReason(const Checkpoint& checkpoint, const TensorInfo& tensor)
{
    const auto bytes = writtenOut(checkpoint, tensor);
    return !bytes || (*bytes > kAlways && *bytes / kTimesHeld > heldBytes(checkpoint));
}

RepeatBudget::RepeatBudget(const Checkpoint& checkpoint)
    : checkpoint_(checkpoint), left_(kAlways + kTimesHeld * heldBytes(checkpoint))
{
}

bool RepeatBudget::spend(const TensorInfo& tensor)
{
    const auto bytes = writtenOut(checkpoint_, tensor);
    if (!bytes || *bytes > left_)
        return false;
    left_ -= *bytes;
    return true;
}

} // namespace lockstep
