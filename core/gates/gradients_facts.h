// Numbers the checks of phase 2 are made of, read from the recorded runs.
#pragma once

#include "core/base/status.h"
#include "core/store/run_reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// Losses of steps 1..count, mean over ranks weighted by samples. Shorter where the run is shorter.
Result<std::vector<double>> firstLosses(RunReader& run, int count);

// Whether a buffer changes during training: the mark of batch statistics.
Result<bool> hasBatchStatistics(RunReader& run);

struct RanksDiffer {
    std::int64_t step = -1;
    int rank = -1; // differs from rank 0
};
struct RankAgreement {
    std::int64_t steps = 0; // compared, step 0 included
    int ranks = 0;
    std::optional<RanksDiffer> first;
};
// Whether `quantity` is the same on every rank at every step.
Result<RankAgreement> agreement(RunReader& run, Quantity quantity);

struct CollectiveCount {
    std::int64_t steady = 0; // per step, from step 2 on (the Reducer rebuilds its buckets in step 2)
    std::optional<RanksDiffer> irregular; // first step or rank that has another count
};
// nullopt: the run recorded none.
Result<std::optional<CollectiveCount>> collectives(RunReader& run);

// Parameters that never got a gradient in a run of level `tensor`, by name; nullopt: no tensors were recorded.
Result<std::optional<std::vector<std::string>>> unusedParameters(RunReader& run);

// How the gradient of one step relates to that of another run with the same parameters: the ratio of the norms, and the
// cosine of their random projections (1 within rounding if one is a multiple of the other).
struct GradientRelation {
    double ratio = 0;
    double cosine = 0;
    int projections = 0;
};
Result<std::optional<GradientRelation>> relateGradients(RunReader& reference, RunReader& run,
                                                        std::int64_t step);

} // namespace lockstep
