// Rows of run.db that both the writer and the reader have to know. Private to core/store.
#pragma once

#include "core/base/records.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

namespace lockstep::store {

// One tensor in tensor.data: 64 bytes, little-endian. `name` is tensor_name.id.
struct TensorEntry {
    std::uint32_t name;
    std::uint32_t has;
    double localNorm;
    std::uint64_t localFingerprint;
    double reducedNorm;
    std::uint64_t reducedFingerprint;
    double updateNorm;
    double stateNorm;
    std::uint64_t stateFingerprint;
};
static_assert(sizeof(TensorEntry) == 64);

inline TensorEntry entryOf(const TensorRecord& r, std::uint32_t name)
{
    return {
        name,         r.has,       r.localNorm,       r.localFingerprint, r.reducedNorm, r.reducedFingerprint,
        r.updateNorm, r.stateNorm, r.stateFingerprint};
}

// Bounds of a chunk without finite values are stored as NULL.
inline double orNull(double bound)
{
    return std::isfinite(bound) ? bound : std::numeric_limits<double>::quiet_NaN();
}

// Appends whole 64-bit words; `bytes` needs no alignment.
template<typename Word>
void appendWords(std::vector<Word>& words, std::string_view bytes)
{
    static_assert(sizeof(Word) == 8);
    const std::size_t count = bytes.size() / sizeof(Word);
    const std::size_t old = words.size();
    words.resize(old + count);
    if (count > 0)
        std::memcpy(words.data() + old, bytes.data(), count * sizeof(Word));
}

} // namespace lockstep::store
