// The kernels, written once for a vector type V; included by block_kernels_avx512.cpp and
// block_kernels_avx2.cpp only. Nothing of the standard library is used here: those files are compiled for
// CPUs the rest of the program may not have.
#pragma once

#include "core/ckpt/block_kernels.h"

#include <immintrin.h>

namespace lockstep::kernels {

// Squares, differences and their largest value for one pair of double vectors.
template<class V>
struct PairSums {
    typename V::D sumA = V::zero(), sumB = V::zero(), largest = V::zero();

    inline void add(typename V::D a, typename V::D b)
    {
        sumA = V::fma(a, sumA);
        sumB = V::fma(b, sumB);
        largest = V::max(V::magnitude(V::sub(a, b)), largest);
    }
};

// A sum of squares is finite exactly if every element is: float32 squares cannot overflow a double.
static inline bool finite(double value)
{
    return value - value == 0;
}

template<class V>
bool pairFloat32(const std::byte* a, const std::byte* b, std::size_t n, FastBlock& out)
{
    PairSums<V> even, odd;
    auto minA = V::loadF(a), maxA = minA, minB = V::loadF(b), maxB = minB;
    std::uint32_t values = 0, bits = 0;
    for (std::size_t i = 0; i < n; i += V::kFloats) {
        const std::byte* pa = a + i * 4;
        const std::byte* pb = b + i * 4;
        const auto x = V::loadF(pa), y = V::loadF(pb);
        minA = V::minF(x, minA);
        maxA = V::maxF(x, maxA);
        minB = V::minF(y, minB);
        maxB = V::maxF(y, maxB);
        values += V::countNeF(x, y);
        bits += V::countNe32(x, y);
        even.add(V::widen(pa), V::widen(pb));
        odd.add(V::widen(pa + V::kFloats * 2), V::widen(pb + V::kFloats * 2));
    }
    out.sumA = V::sum(even.sumA, odd.sumA);
    out.sumB = V::sum(even.sumB, odd.sumB);
    out.maxAbs = V::largest(V::max(even.largest, odd.largest));
    out.minA = V::smallestF(minA);
    out.maxA = V::largestF(maxA);
    out.minB = V::smallestF(minB);
    out.maxB = V::largestF(maxB);
    out.valuesDiffer = values;
    out.bitsDiffer = bits;
    return finite(out.sumA) && finite(out.sumB);
}

template<class V>
bool singleFloat32(const std::byte* a, std::size_t n, FastBlock& out)
{
    auto even = V::zero(), odd = V::zero();
    auto low = V::loadF(a), high = low;
    for (std::size_t i = 0; i < n; i += V::kFloats) {
        const std::byte* pa = a + i * 4;
        const auto x = V::loadF(pa);
        low = V::minF(x, low);
        high = V::maxF(x, high);
        even = V::fma(V::widen(pa), even);
        odd = V::fma(V::widen(pa + V::kFloats * 2), odd);
    }
    out.sumA = V::sum(even, odd);
    out.minA = V::smallestF(low);
    out.maxA = V::largestF(high);
    return finite(out.sumA);
}

// bfloat16 is the upper half of a float32. Two neighbours share 32 bits: shifted left it is the first, masked
// the second. The order of the elements does not matter here. For min and max the bits are mapped to integers
// of the same order.
template<class V>
bool pairBFloat16(const std::byte* a, const std::byte* b, std::size_t n, FastBlock& out)
{
    PairSums<V> even, odd;
    auto minA = V::ordered16(V::loadI(a)), maxA = minA, minB = V::ordered16(V::loadI(b)), maxB = minB;
    std::uint32_t values = 0, bits = 0;
    for (std::size_t i = 0; i < n; i += V::kFloats * 2) {
        const std::byte* pa = a + i * 2;
        const std::byte* pb = b + i * 2;
        const auto x = V::loadI(pa), y = V::loadI(pb);
        const auto kx = V::ordered16(x), ky = V::ordered16(y);
        minA = V::min16(kx, minA);
        maxA = V::max16(kx, maxA);
        minB = V::min16(ky, minB);
        maxB = V::max16(ky, maxB);
        V::countNe16(x, y, bits, values);
        for (std::size_t half = 0; half < 2; ++half) {
            const auto p = V::loadHalf(pa + half * V::kFloats * 2),
                       q = V::loadHalf(pb + half * V::kFloats * 2);
            even.add(V::firstOf(p), V::firstOf(q));
            odd.add(V::secondOf(p), V::secondOf(q));
        }
    }
    out.sumA = V::sum(even.sumA, odd.sumA);
    out.sumB = V::sum(even.sumB, odd.sumB);
    out.maxAbs = V::largest(V::max(even.largest, odd.largest));
    out.minA = V::smallest16(minA);
    out.maxA = V::largest16(maxA);
    out.minB = V::smallest16(minB);
    out.maxB = V::largest16(maxB);
    out.valuesDiffer = values;
    out.bitsDiffer = bits;
    return finite(out.sumA) && finite(out.sumB);
}

template<class V>
bool singleBFloat16(const std::byte* a, std::size_t n, FastBlock& out)
{
    auto even = V::zero(), odd = V::zero();
    auto low = V::ordered16(V::loadI(a)), high = low;
    for (std::size_t i = 0; i < n; i += V::kFloats * 2) {
        const std::byte* pa = a + i * 2;
        const auto key = V::ordered16(V::loadI(pa));
        low = V::min16(key, low);
        high = V::max16(key, high);
        for (std::size_t half = 0; half < 2; ++half) {
            const auto p = V::loadHalf(pa + half * V::kFloats * 2);
            even = V::fma(V::firstOf(p), even);
            odd = V::fma(V::secondOf(p), odd);
        }
    }
    out.sumA = V::sum(even, odd);
    out.minA = V::smallest16(low);
    out.maxA = V::largest16(high);
    return finite(out.sumA);
}

// Back from the ordered integer to the number.
static inline float fromOrdered16(short key)
{
    const unsigned bits = static_cast<unsigned short>(key < 0 ? key ^ 0x7fff : key);
    const unsigned wide = bits << 16;
    float value;
    __builtin_memcpy(&value, &wide, sizeof value);
    return value;
}

template<class V>
constexpr KernelSet makeKernels()
{
    return {pairFloat32<V>, pairBFloat16<V>, singleFloat32<V>, singleBFloat16<V>};
}

} // namespace lockstep::kernels
