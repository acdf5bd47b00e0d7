#include "core/ckpt/numpy_bytes.h"

#include "core/ckpt/bytes.h"

#include <algorithm>
#include <charconv>

namespace lockstep {
namespace {

// Bytes of one element of "<f4", "|b1", "<U7", "<M8[ns]"; 0 if the code says none.
std::uint64_t elementSize(std::string_view dtype)
{
    std::uint64_t count = 0;
    if (dtype.size() < 3)
        return 0;
    std::from_chars(dtype.data() + 2, dtype.data() + dtype.size(), count);
    return dtype[1] == 'U' ? 4 * std::min<std::uint64_t>(count, 1u << 30) : count;
}

// Bytes that are swapped together.
std::uint64_t swapUnit(std::string_view dtype)
{
    switch (dtype.size() < 3 ? '?' : dtype[1]) {
    case 'f':
    case 'i':
    case 'u':
    case 'm':
    case 'M':
        return elementSize(dtype);
    case 'c':
        return elementSize(dtype) / 2;
    case 'U':
        return 4;
    default:
        return 1;
    }
}

} // namespace

std::string numpyDtype(const NumpyInfo& info)
{
    std::string dtype(info.dtype);
    if (dtype.starts_with('>') && swapUnit(dtype) > 1)
        dtype[0] = '<';
    return dtype;
}

std::optional<std::string> numpyBytes(const Checkpoint& c, const NumpyInfo& info)
{
    if (info.objects)
        return std::nullopt;
    std::string bytes(info.bytes);
    const std::uint64_t unit = info.dtype.starts_with('>') ? swapUnit(info.dtype) : 1;
    for (std::size_t i = 0; unit > 1 && i + unit <= bytes.size(); i += unit)
        std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                     bytes.begin() + static_cast<std::ptrdiff_t>(i + unit));
    if (!info.fortran || info.rank < 2)
        return bytes;
    const auto shape = std::span<const std::int64_t>(c.dims).subspan(info.dims, info.rank);
    const std::uint64_t size = elementSize(info.dtype);
    std::uint64_t total = size;
    for (const std::int64_t n : shape)
        if (n < 0 || !mulInto(total, static_cast<std::uint64_t>(n), total))
            return std::nullopt;
    if (total != bytes.size() || total == 0)
        return total == bytes.size() ? std::optional(bytes) : std::nullopt;
    // Element by element in C order; `from` is the place of the same index in column order.
    std::string rows(bytes.size(), '\0');
    std::vector<std::uint64_t> at(shape.size(), 0);
    for (std::uint64_t i = 0; i < total; i += size) {
        std::uint64_t from = 0;
        for (std::size_t d = shape.size(); d-- > 0;)
            from = from * static_cast<std::uint64_t>(shape[d]) + at[d];
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from * size), size,
                    rows.begin() + static_cast<std::ptrdiff_t>(i));
        for (std::size_t d = shape.size(); d-- > 0 && ++at[d] == static_cast<std::uint64_t>(shape[d]);)
            at[d] = 0;
    }
    return rows;
}

} // namespace lockstep
