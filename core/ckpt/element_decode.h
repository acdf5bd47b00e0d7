// Elements as doubles. Every float type torch has is exactly representable in a double.
#pragma once

#include "core/ckpt/dtype.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lockstep {

// Values of the 256 bit patterns of an 8-bit float type. Formats: OCP OFP8 1.0 (E4M3, E5M2), OCP MX 1.0
// (E8M0), and the "FNUZ" variants of arXiv:2206.02915 (one NaN at 0x80, no negative zero, bias greater by
// one).
const std::array<double, 256>& float8Table(DType dtype);

double float16ToDouble(std::uint16_t bits);

template<typename T>
inline T loadUnaligned(const std::byte* p)
{
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

// n elements of a Float or integer type (not complex, not packed) to doubles; 64-bit integers are rounded.
void decodeToDouble(DType dtype, const std::byte* from, std::size_t n, double* to);
// The same for complex types: n pairs.
void decodeComplex(DType dtype, const std::byte* from, std::size_t n, double* to);

// Calls `f` with a value of the C++ type that stores `dtype` (integers, bool and quantised integers only).
template<typename F>
bool withIntegerType(DType dtype, F&& f)
{
    switch (dtype) {
    case DType::Int64:
        return f(std::int64_t{}), true;
    case DType::Int32:
    case DType::QInt32:
        return f(std::int32_t{}), true;
    case DType::Int16:
        return f(std::int16_t{}), true;
    case DType::Int8:
    case DType::QInt8:
        return f(std::int8_t{}), true;
    case DType::UInt64:
        return f(std::uint64_t{}), true;
    case DType::UInt32:
        return f(std::uint32_t{}), true;
    case DType::UInt16:
        return f(std::uint16_t{}), true;
    case DType::UInt8:
    case DType::QUInt8:
    case DType::Bool:
        return f(std::uint8_t{}), true;
    default:
        return false;
    }
}

inline bool isFloat(DType dtype)
{
    return dtypeInfo(dtype).kind == DTypeClass::Float;
}
inline bool isComplex(DType dtype)
{
    return dtypeInfo(dtype).kind == DTypeClass::Complex;
}
inline bool isPacked(DType dtype)
{
    return dtypeInfo(dtype).kind == DTypeClass::Packed;
}

} // namespace lockstep
