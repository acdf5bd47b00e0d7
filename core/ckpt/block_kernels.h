// The inner loops of statistics and diff: one block of two arrays (or one) in a single pass. The vector
// versions assume what nearly every block fulfils, that all its elements are finite, and say so if it was
// wrong; the caller then repeats that block with exact scalar code. Sums are in double, so squares of float32
// and bfloat16 neither overflow nor vanish.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::kernels {

// Largest block: the 16-bit counters and the accuracy of the sums rest on it.
inline constexpr std::size_t kBlock = 4096;

// Results for one block whose elements are all finite.
struct FastBlock {
    double sumA = 0; // of squares
    double sumB = 0;
    float minA = 0;
    float maxA = 0;
    float minB = 0;
    float maxB = 0;
    double maxAbs = 0; // largest |a - b|
    std::uint32_t valuesDiffer = 0;
    std::uint32_t bitsDiffer = 0;
};

// n > 0 elements, at most kBlock, a multiple of kStep, any alignment. False: something was not finite, `out`
// is void.
inline constexpr std::size_t kStep = 32;
using PairKernel = bool (*)(const std::byte* a, const std::byte* b, std::size_t n, FastBlock& out);
// One array: fills sumA, minA, maxA.
using SingleKernel = bool (*)(const std::byte* a, std::size_t n, FastBlock& out);

struct KernelSet {
    PairKernel pairFloat32 = nullptr;
    PairKernel pairBFloat16 = nullptr;
    SingleKernel singleFloat32 = nullptr;
    SingleKernel singleBFloat16 = nullptr;
};

// The widest set this CPU runs; all nullptr where it has no AVX2.
const KernelSet& fastKernels();

extern const KernelSet kAvx512Kernels;
extern const KernelSet kAvx2Kernels;

} // namespace lockstep::kernels
