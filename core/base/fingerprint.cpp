#include "core/base/fingerprint.h"

#include "core/base/fold_lanes.h"
#include "core/base/vector_clones.h"

#include <algorithm>
#include <cstring>

namespace lockstep {

namespace {

// The loops are written so that the compiler vectorises them. Integer arithmetic and the fixed lane order
// give the same value in every clone (no FMA contraction: see CMakeLists.txt).
constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15ULL;
constexpr std::size_t kBlock = 8;

// The finaliser of fingerprintMix(); its index term (index + 1) * kGamma is carried along as a running sum.
[[gnu::always_inline]] inline std::uint64_t finalise(std::uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

template<typename Word>
[[gnu::always_inline]] inline std::uint64_t fingerprintWords(const unsigned char* data, std::size_t count,
                                                             std::uint64_t firstIndex)
{
    std::uint64_t offset[kBlock];
    std::uint64_t sums[kBlock] = {};
    for (std::size_t l = 0; l < kBlock; ++l)
        offset[l] = (firstIndex + l + 1) * kGamma;
    std::size_t i = 0;
    for (; i + kBlock <= count; i += kBlock) {
        Word words[kBlock];
        std::memcpy(words, data + i * sizeof(Word), sizeof words);
        for (std::size_t l = 0; l < kBlock; ++l) {
            sums[l] += finalise(words[l] + offset[l]);
            offset[l] += kBlock * kGamma;
        }
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t s : sums)
        sum += s;
    for (; i < count; ++i) {
        Word word;
        std::memcpy(&word, data + i * sizeof(Word), sizeof word);
        sum += fingerprintMix(firstIndex + i, word);
    }
    return sum;
}

LOCKSTEP_CLONES std::uint64_t fingerprint8(const unsigned char* data, std::size_t count, std::uint64_t first)
{
    return fingerprintWords<std::uint8_t>(data, count, first);
}
LOCKSTEP_CLONES std::uint64_t fingerprint16(const unsigned char* data, std::size_t count, std::uint64_t first)
{
    return fingerprintWords<std::uint16_t>(data, count, first);
}
LOCKSTEP_CLONES std::uint64_t fingerprint32(const unsigned char* data, std::size_t count, std::uint64_t first)
{
    return fingerprintWords<std::uint32_t>(data, count, first);
}
LOCKSTEP_CLONES std::uint64_t fingerprint64(const unsigned char* data, std::size_t count, std::uint64_t first)
{
    return fingerprintWords<std::uint64_t>(data, count, first);
}

template<typename T>
[[gnu::always_inline]] inline void addSquares(const T* data, std::size_t count, double* lane)
{
    std::size_t i = 0;
    for (; i + kNormLanes <= count; i += kNormLanes) {
        for (int l = 0; l < kNormLanes; ++l) {
            const double v = data[i + l];
            lane[l] += v * v;
        }
    }
    for (int l = 0; i < count; ++i, ++l) {
        const double v = data[i];
        lane[l] += v * v;
    }
}

LOCKSTEP_CLONES void addSquaresF32(const float* data, std::size_t count, double* lane)
{
    addSquares(data, count, lane);
}
LOCKSTEP_CLONES void addSquaresF64(const double* data, std::size_t count, double* lane)
{
    addSquares(data, count, lane);
}

// The lanes are local for the length of the loop, so that they stay in registers although `before` is written.
LOCKSTEP_CLONES void addUpdate(const float* __restrict after, float* __restrict before, std::size_t count,
                               double* __restrict lane)
{
    double sums[kNormLanes];
    std::memcpy(sums, lane, sizeof sums);
    std::size_t i = 0;
    for (; i + kNormLanes <= count; i += kNormLanes) {
        for (int l = 0; l < kNormLanes; ++l) {
            const float now = after[i + l];
            const double v = double(now) - double(before[i + l]);
            sums[l] += v * v;
            before[i + l] = now;
        }
    }
    for (int l = 0; i < count; ++i, ++l) {
        const double v = double(after[i]) - double(before[i]);
        sums[l] += v * v;
        before[i] = after[i];
    }
    std::memcpy(lane, sums, sizeof sums);
}

} // namespace

std::uint64_t fingerprint(const void* data, std::size_t count, std::size_t elementSize,
                          std::uint64_t firstIndex)
{
    const auto* bytes = static_cast<const unsigned char*>(data);
    switch (elementSize) {
    case 1:
        return fingerprint8(bytes, count, firstIndex);
    case 2:
        return fingerprint16(bytes, count, firstIndex);
    case 4:
        return fingerprint32(bytes, count, firstIndex);
    case 16:
        return fingerprint64(bytes, count * 2, firstIndex);
    default:
        return fingerprint64(bytes, count, firstIndex);
    }
}

double sumOfSquares(const float* data, std::size_t count)
{
    double lane[kNormLanes] = {};
    addSquaresF32(data, count, lane);
    return foldLanes(lane);
}

double sumOfSquares(const double* data, std::size_t count)
{
    double lane[kNormLanes] = {};
    addSquaresF64(data, count, lane);
    return foldLanes(lane);
}

// In blocks that stay in the first-level cache between the two looks at them; whole rows of lanes, so that the order of
// additions is the same.
UpdateSums takeUpdate(const float* after, float* before, std::size_t count, std::uint64_t firstIndex)
{
    constexpr std::size_t kElements = 2048;
    static_assert(kElements % kNormLanes == 0);
    double lane[kNormLanes] = {};
    UpdateSums sums;
    for (std::size_t i = 0; i < count; i += kElements) {
        const std::size_t n = std::min(kElements, count - i);
        addUpdate(after + i, before + i, n, lane);
        sums.fingerprint += fingerprint(after + i, n, sizeof(float), firstIndex + i);
    }
    sums.squares = foldLanes(lane);
    return sums;
}

} // namespace lockstep
