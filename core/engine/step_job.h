// What the training thread hands to the recorder after a step: the scalars it knows, and where the tensors
// lie that still have to be reduced to norms and fingerprints. Nothing is copied: what the spans point at
// stays unchanged and alive until Recorder::waitUntilRead() returns, which the training thread calls before
// the next optimizer step.
#pragma once

#include "core/base/records.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

struct TensorSpan {
    const void* data =
        nullptr; // contiguous; nullptr with count > 0: absent, takes part in the numbering only
    std::size_t count = 0;
    std::uint32_t elementSize = 4;
    bool isFloat = true; // float32: has a norm

    const float* floats() const { return static_cast<const float*>(data); }
};
using TensorSpans = std::vector<TensorSpan>;

struct StepJob {
    StepRecord record; // already holds every scalar the training thread measured
    std::vector<SamplesRecord> samples;

    // One span per parameter, in the model's order; absent gradients have no data. Empty lists are not
    // recorded.
    TensorSpans localGradients;   // before the reduction over ranks
    TensorSpans gradients;        // after it, before clipping
    TensorSpans clippedGradients; // only where clipping is on
    TensorSpans parameters;
    TensorSpans buffers;
    TensorSpans optimizerState;
    TensorSpan generator;

    // The same parameters as the job before this one (another rank of the twin): its results are taken over.
    bool sharedState = false;
};

// The names behind the spans, for TensorRecords.
struct StateNames {
    std::vector<std::string> parameters;
    std::vector<std::string> buffers;
};

} // namespace lockstep
