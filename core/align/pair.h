// Which point of run A belongs to which point of run B: ranks and steps.
#pragma once

#include "core/base/status.h"
#include "core/store/run_reader.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

enum class PairBy {
    Step,    // same optimizer step
    Samples, // same number of samples seen by all ranks together (quantity samples_seen of rank 0)
    Id, // steps that used the same set of samples, in any order, over all ranks; the k-th use pairs with the
        // k-th
};
Result<PairBy> parsePairBy(const std::string& text); // "step", "samples", "id"
const char* pairByName(PairBy by);

struct StepPair {
    std::int64_t a = 0;
    std::int64_t b = 0;

    bool operator==(const StepPair&) const = default;
};

// Pairs in order of A's steps. For PairBy::Step this is every step both runs recorded for their first rank.
// Empty where nothing pairs; an error only where a file cannot be read.
Result<std::vector<StepPair>> pairSteps(RunReader& a, RunReader& b, PairBy by);

// Ranks that recorded anything, ascending.
std::vector<int> recordedRanks(const std::vector<SeriesInfo>& series);

} // namespace lockstep
