#include "core/ckpt/element_decode.h"

#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

namespace lockstep {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::array<double, 256> makeTable(DType dtype)
{
    std::array<double, 256> table{};
    const bool e5 = dtype == DType::Float8E5M2 || dtype == DType::Float8E5M2FNUZ;
    const bool fnuz = dtype == DType::Float8E4M3FNUZ || dtype == DType::Float8E5M2FNUZ;
    const int mantissaBits = e5 ? 2 : 3;
    const int bias = (e5 ? 15 : 7) + (fnuz ? 1 : 0);
    for (int bits = 0; bits < 256; ++bits) {
        if (dtype == DType::Float8E8M0FNU) {
            table[bits] = bits == 255 ? kNaN : std::ldexp(1.0, bits - 127);
            continue;
        }
        const int mantissa = bits & ((1 << mantissaBits) - 1);
        const int exponent = (bits & 0x7f) >> mantissaBits;
        double value = exponent == 0
                           ? std::ldexp(mantissa, 1 - bias - mantissaBits)
                           : std::ldexp(mantissa + (1 << mantissaBits), exponent - bias - mantissaBits);
        if (bits & 0x80)
            value = -value;
        if (fnuz && bits == 0x80)
            value = kNaN;
        if (dtype == DType::Float8E4M3FN && (bits & 0x7f) == 0x7f)
            value = kNaN;
        if (dtype == DType::Float8E5M2 && exponent == 31)
            value = mantissa ? kNaN : (bits & 0x80 ? -kInf : kInf);
        table[bits] = value;
    }
    return table;
}

double bfloat16ToDouble(std::uint16_t bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

template<typename T>
void convert(const std::byte* from, std::size_t n, double* to)
{
    for (std::size_t i = 0; i < n; ++i)
        to[i] = static_cast<double>(loadUnaligned<T>(from + i * sizeof(T)));
}

} // namespace

const std::array<double, 256>& float8Table(DType dtype)
{
    static const std::array<std::array<double, 256>, 5> tables = {
        makeTable(DType::Float8E4M3FN), makeTable(DType::Float8E5M2), makeTable(DType::Float8E4M3FNUZ),
        makeTable(DType::Float8E5M2FNUZ), makeTable(DType::Float8E8M0FNU)};
    const int index = static_cast<int>(dtype) - static_cast<int>(DType::Float8E4M3FN);
    assert(index >= 0 && index < 5);
    return tables[static_cast<std::size_t>(index)];
}

double float16ToDouble(std::uint16_t bits)
{
    const std::uint64_t sign = static_cast<std::uint64_t>(bits & 0x8000) << 48;
    const std::uint64_t exponent = (bits >> 10) & 0x1f;
    const std::uint64_t mantissa = bits & 0x3ff;
    if (exponent == 0) {
        const double value = std::ldexp(static_cast<double>(mantissa), -24);
        return sign ? -value : value;
    }
    const std::uint64_t wide = exponent == 31 ? 0x7ff : exponent - 15 + 1023;
    return std::bit_cast<double>(sign | (wide << 52) | (mantissa << 42));
}

void decodeToDouble(DType dtype, const std::byte* from, std::size_t n, double* to)
{
    switch (dtype) {
    case DType::Float64:
        std::memcpy(to, from, n * sizeof(double));
        return;
    case DType::Float32:
        return convert<float>(from, n, to);
    case DType::Float16:
        for (std::size_t i = 0; i < n; ++i)
            to[i] = float16ToDouble(loadUnaligned<std::uint16_t>(from + 2 * i));
        return;
    case DType::BFloat16:
        for (std::size_t i = 0; i < n; ++i)
            to[i] = bfloat16ToDouble(loadUnaligned<std::uint16_t>(from + 2 * i));
        return;
    default:
        break;
    }
    if (withIntegerType(dtype, [&](auto zero) { convert<decltype(zero)>(from, n, to); }))
        return;
    const auto& table = float8Table(dtype);
    for (std::size_t i = 0; i < n; ++i)
        to[i] = table[static_cast<std::size_t>(from[i])];
}

void decodeComplex(DType dtype, const std::byte* from, std::size_t n, double* to)
{
    const DType part = dtype == DType::Complex128  ? DType::Float64
                       : dtype == DType::Complex64 ? DType::Float32
                                                   : DType::Float16;
    decodeToDouble(part, from, 2 * n, to);
}

} // namespace lockstep
