// The measures of core/base for the probe, which calls them through ctypes: plain C functions over lists of contiguous
// arrays on the CPU. The probe works without this library, with the same bits and more time (reference.py).
#include "core/base/fingerprint.h"
#include "core/base/projection.h"

#include <cstring>

extern "C" {

// Bumped when a signature changes; the probe does not use a library of another version.
int lockstep_measure_version()
{
    return 2;
}

void lockstep_signs(std::uint8_t* out, std::uint64_t count)
{
    for (std::uint64_t i = 0; i < count; ++i)
        out[i] = std::uint8_t(lockstep::fingerprintMix(i, lockstep::kProjectionSeed) &
                              ((1u << lockstep::kProjections) - 1));
}

// out[t] = fingerprint of array t, whose first element has the index first[t].
void lockstep_fingerprints(std::uint64_t arrays, const void* const* data, const std::uint64_t* count,
                           const std::uint32_t* elementSize, const std::uint64_t* first, std::uint64_t* out)
{
    for (std::uint64_t t = 0; t < arrays; ++t)
        out[t] = lockstep::fingerprint(data[t], count[t], elementSize[t], first[t]);
}

// out[r] += fingerprint of row r; for the content hash of each sample of a batch.
void lockstep_rows(const void* data, std::uint64_t rows, std::uint64_t rowElements, std::uint32_t elementSize,
                   std::uint64_t first, std::uint64_t* out)
{
    const auto* row = static_cast<const unsigned char*>(data);
    for (std::uint64_t r = 0; r < rows; ++r, row += rowElements * elementSize)
        out[r] += lockstep::fingerprint(row, rowElements, elementSize, first);
}

// Sum of squares and projections of each array; signs[first[t]] belongs to its first element.
void lockstep_gradients(std::uint64_t arrays, const float* const* data, const std::uint64_t* count,
                        const std::uint8_t* signs, const std::uint64_t* first, double* squares,
                        double* projections)
{
    for (std::uint64_t t = 0; t < arrays; ++t) {
        const lockstep::GradientSums sums = lockstep::gradientSums(data[t], signs + first[t], count[t]);
        squares[t] = sums.squares;
        std::memcpy(projections + t * lockstep::kProjections, sums.projection.data(), sizeof sums.projection);
    }
}

void lockstep_squares(std::uint64_t arrays, const float* const* data, const std::uint64_t* count, double* out)
{
    for (std::uint64_t t = 0; t < arrays; ++t)
        out[t] = lockstep::sumOfSquares(data[t], count[t]);
}

// Of each array what it moved by (sum of squares) and its fingerprint; `before` takes the values of `after`.
void lockstep_states(std::uint64_t arrays, const float* const* after, float* const* before,
                     const std::uint64_t* count, const std::uint64_t* first, double* squares,
                     std::uint64_t* prints)
{
    for (std::uint64_t t = 0; t < arrays; ++t) {
        const lockstep::UpdateSums sums = lockstep::takeUpdate(after[t], before[t], count[t], first[t]);
        squares[t] = sums.squares;
        prints[t] = sums.fingerprint;
    }
}

// The same without the fingerprints.
void lockstep_updates(std::uint64_t arrays, const float* const* after, float* const* before,
                      const std::uint64_t* count, double* out)
{
    for (std::uint64_t t = 0; t < arrays; ++t)
        out[t] = lockstep::takeUpdate(after[t], before[t], count[t]).squares;
}

} // extern "C"
