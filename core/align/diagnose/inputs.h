// Scripts without sample ids: the inputs of the model stand for the samples of a step, and need not be them.
#pragma once

#include "core/align/diagnose/run_trace.h"

namespace lockstep::align {

// Every rank is given the same inputs, and from equal weights their losses still differ: the loss takes each rank's share out of
// what all of them compute, as on one graph. Where the model draws at random, that alone makes losses differ; then the inputs
// have to be the same in the next step, too. Not where the ranks' losses are known to have more targets than the reference's.
bool inputsSharedByRanks(const RunTrace& reference, const RunTrace& suspect);

// The ranks together have another number of rows than the reference and as many targets: the first dimension of the inputs
// is not the samples, as where time comes first.
bool rowsAreNoSamples(const RunTrace& reference, const RunTrace& suspect);

// After the first update some inputs of the step are the reference's, and those that are not occur nowhere in the reference:
// they were made by a model, as a critic's are, and carry the rounding of its weights.
bool inputsMadeByModel(const RunTrace& reference, const RunTrace& suspect, std::int64_t step);

} // namespace lockstep::align
