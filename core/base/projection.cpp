#include "core/base/projection.h"

#include "core/base/fold_lanes.h"
#include "core/base/vector_clones.h"

#include <bit>
#include <cstring>

namespace lockstep {

namespace {

constexpr int kLaneSets = kProjections + 1; // one for the squares

double signedValue(double value, std::uint64_t signs, int k)
{
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ (signs << (63 - k) & (1ULL << 63)));
}

// One block of kNormLanes elements at a time; each projection moves its bit of `signs` into the sign bit. No branch, so the
// compiler vectorises every inner loop.
LOCKSTEP_CLONES void addLanes(const float* data, const std::uint8_t* signs, std::size_t count,
                              double (*lanes)[kNormLanes])
{
    double sums[kLaneSets][kNormLanes] = {};
    for (std::size_t i = 0; i + kNormLanes <= count; i += kNormLanes) {
        std::uint64_t sign[kNormLanes];
        double value[kNormLanes];
        for (int l = 0; l < kNormLanes; ++l) {
            sign[l] = signs[i + l];
            value[l] = data[i + l];
        }
        for (int l = 0; l < kNormLanes; ++l)
            sums[kProjections][l] += value[l] * value[l];
        for (int k = 0; k < kProjections; ++k)
            for (int l = 0; l < kNormLanes; ++l)
                sums[k][l] += std::bit_cast<double>(std::bit_cast<std::uint64_t>(value[l]) ^
                                                    (sign[l] << (63 - k) & (1ULL << 63)));
    }
    std::memcpy(lanes, sums, sizeof sums);
}

} // namespace

std::vector<std::uint8_t> projectionSigns(std::size_t elements)
{
    std::vector<std::uint8_t> signs(elements);
    for (std::size_t i = 0; i < elements; ++i)
        signs[i] = std::uint8_t(fingerprintMix(i, kProjectionSeed) & ((1u << kProjections) - 1));
    return signs;
}

GradientSums gradientSums(const float* data, const std::uint8_t* signs, std::size_t count)
{
    double lanes[kLaneSets][kNormLanes];
    addLanes(data, signs, count, lanes);
    const std::size_t whole = count - count % kNormLanes;
    for (std::size_t i = whole; i < count; ++i) {
        const double value = data[i];
        for (int k = 0; k < kProjections; ++k)
            lanes[k][i - whole] += signedValue(value, signs[i], k);
        lanes[kProjections][i - whole] += value * value;
    }
    GradientSums sums;
    for (int k = 0; k < kProjections; ++k)
        sums.projection[std::size_t(k)] = foldLanes(lanes[k]);
    sums.squares = foldLanes(lanes[kProjections]);
    return sums;
}

} // namespace lockstep
