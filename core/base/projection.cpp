#include "core/base/projection.h"

#include "core/base/vector_clones.h"

#include <bit>

namespace lockstep {

namespace {

// Lane l of every projection; the sign is moved into the sign bit, so that the loop has no branch.
LOCKSTEP_CLONES void addLanes(const float* data, const std::uint8_t* signs, std::size_t count, double* lanes)
{
    for (std::size_t i = 0; i + kNormLanes <= count; i += kNormLanes) {
        for (int k = 0; k < kProjections; ++k) {
            for (int l = 0; l < kNormLanes; ++l) {
                const auto sign = std::uint64_t(signs[i + l]) << (63 - k) & (1ULL << 63);
                lanes[k * kNormLanes + l] +=
                    std::bit_cast<double>(std::bit_cast<std::uint64_t>(double(data[i + l])) ^ sign);
            }
        }
    }
}

} // namespace

std::vector<std::uint8_t> projectionSigns(std::size_t elements)
{
    std::vector<std::uint8_t> signs(elements);
    for (std::size_t i = 0; i < elements; ++i)
        signs[i] = std::uint8_t(fingerprintMix(i, kProjectionSeed) & ((1u << kProjections) - 1));
    return signs;
}

void addProjection(const float* data, const std::uint8_t* signs, std::size_t count, Projection& sums)
{
    double lanes[kProjections * kNormLanes] = {};
    addLanes(data, signs, count, lanes);
    const std::size_t whole = count - count % kNormLanes;
    for (int k = 0; k < kProjections; ++k) {
        double* lane = lanes + k * kNormLanes;
        for (std::size_t i = whole; i < count; ++i)
            lane[i - whole] += (signs[i] >> k & 1) != 0 ? -double(data[i]) : double(data[i]);
        for (int half = kNormLanes / 2; half > 0; half /= 2)
            for (int l = 0; l < half; ++l)
                lane[l] += lane[l + half];
        sums[std::size_t(k)] += lane[0];
    }
}

} // namespace lockstep
