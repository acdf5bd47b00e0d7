// Little-endian loads and checked arithmetic for the readers: every offset in a file is somebody else's claim.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace lockstep {

static_assert(std::endian::native == std::endian::little, "the readers load numbers as they lie in the file");

// The caller has checked that sizeof(T) bytes lie at `at`.
template<typename T>
inline T loadLe(const std::byte* at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

// a + b and a * b; false if the result does not fit.
template<typename T>
[[nodiscard]] inline bool addInto(T a, T b, T& result)
{
    return !__builtin_add_overflow(a, b, &result);
}
template<typename T>
[[nodiscard]] inline bool mulInto(T a, T b, T& result)
{
    return !__builtin_mul_overflow(a, b, &result);
}

// Whether [offset, offset + length) lies in [0, size).
inline bool inside(std::uint64_t offset, std::uint64_t length, std::uint64_t size)
{
    return offset <= size && length <= size - offset;
}

inline std::string_view asText(std::span<const std::byte> bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace lockstep
