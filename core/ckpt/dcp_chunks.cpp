#include "core/ckpt/dcp_chunks.h"

#include "core/ckpt/bytes.h"

#include <limits>

namespace lockstep {
namespace {

bool overlap(const DcpBox& a, const DcpBox& b)
{
    const std::size_t rank = a.size() / 2;
    for (std::size_t d = 0; d < rank; ++d)
        if (a[d] >= b[d] + b[rank + d] || b[d] >= a[d] + a[rank + d])
            return false;
    return true;
}

bool anyOverlap(const std::vector<DcpBox>& boxes)
{
    constexpr std::size_t kMost = 1500; // every pair is looked at
    for (std::size_t i = 0; boxes.size() <= kMost && i < boxes.size(); ++i)
        for (std::size_t k = i + 1; k < boxes.size(); ++k)
            if (overlap(boxes[i], boxes[k]))
                return true;
    return false;
}

} // namespace

DcpBox boxOf(std::span<const std::int64_t> shape)
{
    DcpBox box(shape.size(), 0);
    box.insert(box.end(), shape.begin(), shape.end());
    return box;
}

std::optional<std::string> boxFault(const DcpBox& box, std::span<const std::int64_t> shape)
{
    const std::size_t rank = shape.size();
    for (std::size_t d = 0; d < rank; ++d) {
        std::int64_t end = 0;
        if (box[d] < 0 || box[rank + d] < 0 || !addInto(box[d], box[rank + d], end) || end > shape[d])
            return "a chunk at " + std::to_string(box[d]) + " of size " + std::to_string(box[rank + d]) +
                   " leaves dimension " + std::to_string(d) + " of " + std::to_string(shape[d]);
    }
    return std::nullopt;
}

std::optional<std::string> coverFault(const std::vector<DcpBox>& boxes, std::int64_t elements)
{
    if (anyOverlap(boxes))
        return "two chunks hold the same elements";
    std::int64_t total = 0;
    for (const DcpBox& box : boxes) {
        std::int64_t volume = 1; // at most `elements`: the box lies in the tensor
        for (std::size_t d = box.size() / 2; d < box.size(); ++d)
            volume *= box[d];
        if (!addInto(total, volume, total))
            total = std::numeric_limits<std::int64_t>::max(); // only where more than 1,500 boxes overlap
    }
    if (total != elements)
        return "the chunks hold " + std::to_string(total) + " of " + std::to_string(elements) +
               " elements; torch fills the rest with whatever lies in memory";
    return std::nullopt;
}

} // namespace lockstep
