// What a rank reports, as plain structs. Produced by the engine or the probe, carried by core/wire, written
// by core/store.
#pragma once

#include "core/base/quantity.h"

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// All values travel and rest as 64 bits; the quantity's ValueType says how to read them. Floats keep their
// bits.
inline std::uint64_t bitsOf(double value)
{
    return std::bit_cast<std::uint64_t>(value);
}
inline double doubleOf(std::uint64_t bits)
{
    return std::bit_cast<double>(bits);
}

// A series of a run: one rank, one quantity, and for indexed quantities one index.
struct SeriesKey {
    std::int32_t rank = 0;
    Quantity quantity = Quantity::Loss;
    std::uint16_t index = 0;

    auto operator<=>(const SeriesKey&) const = default;
};

struct StepValue {
    Quantity quantity;
    std::uint16_t index = 0;
    std::uint64_t bits = 0;
};

// One optimizer step of one rank. Step 0 is the state before training; the first optimizer step is step 1.
struct StepRecord {
    std::int32_t rank = 0;
    std::int64_t step = 0;
    std::vector<StepValue> values;
};

// The samples of one micro-batch, in the order the rank used them. hashes[i] is the content hash of ids[i]
// after augmentation; hashes may be empty when contents are not recorded.
struct SamplesRecord {
    std::int32_t rank = 0;
    std::int64_t step = 0;
    std::int32_t micro = 0;
    std::int64_t epoch = 0;
    std::vector<std::int64_t> ids;
    std::vector<std::uint64_t> hashes;
};

// Level `tensor`: one parameter (or buffer) at one step. NaN norms are values; absent ones are flagged by
// `has`.
struct TensorRecord {
    enum Has : std::uint32_t { Local = 1, Reduced = 2, Update = 4, State = 8 };
    std::int32_t rank = 0;
    std::int64_t step = 0;
    std::string name;
    bool buffer = false;
    std::uint32_t has = 0;
    double localNorm = 0;
    std::uint64_t localFingerprint = 0;
    double reducedNorm = 0;
    std::uint64_t reducedFingerprint = 0;
    double updateNorm = 0;
    double stateNorm = 0;
    std::uint64_t stateFingerprint = 0;
};

// Something that happened on the step axis. `kind` is one of the words in docs/store.md ("epoch_end",
// "checkpoint", "error", "stop", "resume", "segment", ...); `detail` is a JSON object.
struct EventRecord {
    std::int32_t rank = -1; // -1: the host, not a rank
    std::int64_t step = 0;
    std::string kind;
    std::int64_t monotonicNs = 0; // CLOCK_MONOTONIC of the machine that saw it
    std::string detail = "{}";
};

} // namespace lockstep
