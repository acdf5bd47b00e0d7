// Fingerprints and norms: the definitions every part of Lockstep agrees on (engine, CUDA kernels, probe,
// checkpoint diff).
//
// Fingerprint of a tensor: the wrap-around sum over its elements of mix(index, bits), where `index` is the
// element's place in row-major order counted from `firstIndex`, and `bits` are the element's raw bits,
// zero-extended to 64. A sum does not depend on order, so any thread count, CPU or GPU gives the same value.
// The fingerprint of a list of tensors numbers the elements through: tensor t starts where tensor t-1 ended.
// -0.0 and 0.0 differ, NaN payloads count.
//
// mix is the finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators",
// 2014) applied to bits + (index + 1) * golden gamma: a bijection of 64-bit words for each index.
//
// L2 norm: square root of the sum of squares in float64. The sum is formed in kNormLanes = 16 lanes: element
// i goes to lane i mod 16; at the end lanes are added pairwise (l and l + 8, then l and l + 4, then 2, then
// 1). The order is fixed, so the bits are the same on every CPU. A list of tensors adds the sums of squares
// of its tensors in list order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep {

inline constexpr int kNormLanes = 16;

constexpr std::uint64_t fingerprintMix(std::uint64_t index, std::uint64_t bits)
{
    std::uint64_t z = bits + (index + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

// `data` holds `count` elements of `elementSize` bytes (1, 2, 4, 8 or 16), little-endian, contiguous.
// Elements of 16 bytes count as two of 8.
std::uint64_t fingerprint(const void* data, std::size_t count, std::size_t elementSize,
                          std::uint64_t firstIndex = 0);

// Sums of squares as defined above; take the root after adding the tensors of a list.
double sumOfSquares(const float* data, std::size_t count);
double sumOfSquares(const double* data, std::size_t count);

// What a tensor of parameters says after an update, read once.
struct UpdateSums {
    double squares =
        0; // over after[i] - before[i], each difference formed in float64: the square of its update norm
    std::uint64_t fingerprint = 0;
};
// `before` becomes `after`.
UpdateSums takeUpdate(const float* after, float* before, std::size_t count, std::uint64_t firstIndex = 0);

} // namespace lockstep
