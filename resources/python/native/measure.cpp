// The measures of core/base for the probe, which calls them through ctypes: plain C functions over lists of contiguous
// arrays on the CPU. The probe works without this library, with the same bits and more time (reference.py).
#include "core/base/fingerprint.h"
#include "core/base/projection.h"

#include <algorithm>
#include <cstring>

extern "C" {

// Bumped when a signature changes; the probe does not use a library of another version.
int lockstep_measure_version()
{
    return 3;
}

void lockstep_signs(std::uint8_t* out, std::uint64_t count)
{
    for (std::uint64_t i = 0; i < count; ++i)
        out[i] = std::uint8_t(lockstep::fingerprintMix(i, lockstep::kProjectionSeed) &
                              ((1u << lockstep::kProjections) - 1));
}

std::uint64_t lockstep_fingerprint(const void* data, std::uint64_t count, std::uint32_t elementSize,
                                   std::uint64_t first)
{
    return lockstep::fingerprint(data, count, elementSize, first);
}

// out[t] = fingerprint of array t, whose first element has the index first[t]. Returns their sum.
std::uint64_t lockstep_fingerprints(std::uint64_t arrays, const void* const* data, const std::uint64_t* count,
                                    const std::uint32_t* elementSize, const std::uint64_t* first,
                                    std::uint64_t* out)
{
    std::uint64_t sum = 0;
    for (std::uint64_t t = 0; t < arrays; ++t)
        sum += out[t] = lockstep::fingerprint(data[t], count[t], elementSize[t], first[t]);
    return sum;
}

// out[r] += fingerprint of row r; for the content hash of each sample of a batch.
void lockstep_rows(const void* data, std::uint64_t rows, std::uint64_t rowElements, std::uint32_t elementSize,
                   std::uint64_t first, std::uint64_t* out)
{
    const auto* row = static_cast<const unsigned char*>(data);
    for (std::uint64_t r = 0; r < rows; ++r, row += rowElements * elementSize)
        out[r] += lockstep::fingerprint(row, rowElements, elementSize, first);
}

// Sum of squares and projections of each array; signs[first[t]] belongs to its first element. `totals` takes the sum of
// the squares and those of the projections, added in list order.
void lockstep_gradients(std::uint64_t arrays, const float* const* data, const std::uint64_t* count,
                        const std::uint8_t* signs, const std::uint64_t* first, double* squares,
                        double* projections, double* totals)
{
    std::fill_n(totals, 1 + lockstep::kProjections, 0.0);
    for (std::uint64_t t = 0; t < arrays; ++t) {
        const lockstep::GradientSums sums = lockstep::gradientSums(data[t], signs + first[t], count[t]);
        squares[t] = sums.squares;
        std::memcpy(projections + t * lockstep::kProjections, sums.projection.data(), sizeof sums.projection);
        totals[0] += sums.squares;
        for (std::size_t k = 0; k < lockstep::kProjections; ++k)
            totals[1 + k] += sums.projection[k];
    }
}

void lockstep_squares(std::uint64_t arrays, const float* const* data, const std::uint64_t* count, double* out)
{
    for (std::uint64_t t = 0; t < arrays; ++t)
        out[t] = lockstep::sumOfSquares(data[t], count[t]);
}

// Of each array what it moved by (sum of squares) and its fingerprint; `before` takes the values of `after`. `moved`
// takes the sum of the squares in list order; returns the sum of the fingerprints.
std::uint64_t lockstep_states(std::uint64_t arrays, const float* const* after, float* const* before,
                              const std::uint64_t* count, const std::uint64_t* first, double* squares,
                              std::uint64_t* prints, double* moved)
{
    std::uint64_t print = 0;
    *moved = 0;
    for (std::uint64_t t = 0; t < arrays; ++t) {
        const lockstep::UpdateSums sums = lockstep::takeUpdate(after[t], before[t], count[t], first[t]);
        *moved += squares[t] = sums.squares;
        print += prints[t] = sums.fingerprint;
    }
    return print;
}

// The same without the fingerprints.
void lockstep_updates(std::uint64_t arrays, const float* const* after, float* const* before,
                      const std::uint64_t* count, double* out)
{
    for (std::uint64_t t = 0; t < arrays; ++t)
        out[t] = lockstep::takeUpdate(after[t], before[t], count[t]).squares;
}

} // extern "C"
