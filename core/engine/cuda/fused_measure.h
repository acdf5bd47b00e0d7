// Sum of squares and fingerprint of a list of tensors on the GPU, in one kernel launch.
//
// The fingerprint has the bits of core/base/fingerprint.h: a wrap-around sum does not depend on order. The sum of squares
// can differ from the CPU's in its last bits: the CPU adds each tensor in 16 lanes from front to back, which would leave
// all but 16 threads idle here. Instead every block adds one chunk of kChunk elements in a fixed tree, in float64 and
// without contraction, and the chunks are added in order: the same bits on every GPU and in every run, and within a few
// units in the last place of the CPU's value. So a GPU norm may be compared exactly with a GPU norm, and with a CPU norm
// only within a relative 1e-12.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep {

inline constexpr std::size_t kChunk = 1u << 15;

struct DeviceTensor {
    const void* data; // on the GPU, contiguous
    std::size_t count;
    std::uint32_t elementSize; // 1, 2, 4 or 8
    bool isFloat;              // float32: has a sum of squares
};

struct FusedMeasure {
    double sumOfSquares = 0;
    std::uint64_t fingerprint = 0;
    int error = 0; // cudaError_t; the numbers are void if it is not 0
};

// Runs on `stream` (a cudaStream_t) of the current device and waits for it.
FusedMeasure fusedMeasure(const DeviceTensor* tensors, std::size_t count, void* stream);

} // namespace lockstep
