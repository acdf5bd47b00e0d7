#include "core/ckpt/strides.h"

#include "core/ckpt/bytes.h"

#include <algorithm>

namespace lockstep {

std::vector<std::int64_t> rowMajorStride(std::span<const std::int64_t> shape)
{
    std::vector<std::int64_t> stride(shape.size());
    std::uint64_t step = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
        stride[d] = static_cast<std::int64_t>(step);
        step *= static_cast<std::uint64_t>(std::max<std::int64_t>(shape[d], 1));
    }
    return stride;
}

std::optional<std::int64_t> viewEnd(std::span<const std::int64_t> shape, std::span<const std::int64_t> stride,
                                    std::int64_t offset)
{
    const auto negative = [](std::int64_t n) { return n < 0; };
    if (offset < 0 || shape.size() != stride.size() || std::any_of(shape.begin(), shape.end(), negative) ||
        std::any_of(stride.begin(), stride.end(), negative))
        return std::nullopt;
    if (std::find(shape.begin(), shape.end(), 0) != shape.end())
        return 0;
    std::int64_t last = offset;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        std::int64_t reach = 0;
        if (!mulInto(shape[d] - 1, stride[d], reach) || !addInto(last, reach, last))
            return std::nullopt;
    }
    std::int64_t end = 0;
    return addInto<std::int64_t>(last, 1, end) ? std::optional(end) : std::nullopt;
}

} // namespace lockstep
