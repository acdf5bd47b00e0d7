#include "core/ckpt/float_convert.h"

#include "core/ckpt/element_decode.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace lockstep {
namespace {

std::uint16_t toBFloat16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (value != value)
        return static_cast<std::uint16_t>((bits >> 16) | 0x0040); // stays a NaN
    return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

std::uint16_t toFloat16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
    const std::uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return sign | 0x7e00;
    if (magnitude >= 0x47800000) // 65536 and more, and infinity
        return sign | 0x7c00;
    if (magnitude < 0x38800000) { // below 2^-14: subnormal, a multiple of 2^-24
        // Adding 0.5 aligns the last bit of a float32 with 2^-24 and rounds to nearest even.
        const float rounded = std::bit_cast<float>(magnitude) + 0.5f;
        return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(rounded) - 0x3f000000));
    }
    const std::uint32_t rounded = magnitude - 0x38000000 + 0x0fff + ((magnitude >> 13) & 1);
    return static_cast<std::uint16_t>(sign | (rounded >> 13));
}

} // namespace

bool canConvertTo(DType dtype)
{
    return dtype == DType::Float64 || dtype == DType::Float32 || dtype == DType::Float16 ||
           dtype == DType::BFloat16;
}

void convertFloats(DType from, const std::byte* in, std::size_t n, DType to, std::byte* out)
{
    assert(isFloat(from) && canConvertTo(to));
    constexpr std::size_t kBlock = 1024;
    double values[kBlock];
    for (std::size_t done = 0; done < n; done += kBlock) {
        const std::size_t count = std::min(kBlock, n - done);
        decodeToDouble(from, in + done * itemSize(from), count, values);
        for (std::size_t i = 0; i < count; ++i) {
            std::byte* place = out + (done + i) * itemSize(to);
            const auto single = static_cast<float>(values[i]);
            if (to == DType::Float64)
                std::memcpy(place, &values[i], 8);
            else if (to == DType::Float32)
                std::memcpy(place, &single, 4);
            else {
                const std::uint16_t half = to == DType::Float16 ? toFloat16(single) : toBFloat16(single);
                std::memcpy(place, &half, 2);
            }
        }
    }
}

} // namespace lockstep
