// A checkpoint against what a run recorded of its model at one step. The records hold no values but a fingerprint and a norm of each
// parameter and buffer (core/base/fingerprint.h), so equal means equal in every bit, and a difference is seen but not located.
#pragma once

#include "core/base/records.h"
#include "core/ckpt/diff.h"

namespace lockstep {

// One parameter or buffer. Absent sides have no name.
struct RecordedKeyDiff {
    std::optional<std::string> key;      // in the checkpoint
    std::optional<std::string> recorded; // in the run
    bool buffer = false;
    // Equal, Values, Type (the checkpoint holds another element type than a run trains with), OnlyA (checkpoint), OnlyB (run),
    // Unreadable.
    DiffStatus status = DiffStatus::Equal;
    DType type = DType::Float32;
    std::vector<std::int64_t> shape;
    std::uint64_t fingerprint = 0;
    std::uint64_t recordedFingerprint = 0;
    double norm = 0; // of float tensors; 0 for others, as in the records
    double recordedNorm = 0;
    std::string problem;
};

struct RunDiff {
    // What it was compared with; the caller fills these in.
    std::string run;
    int rank = 0;
    std::int64_t step = 0;
    std::optional<bool>
        parametersEqual; // all parameters together, by parameterFingerprint(); nullopt: not recorded

    KeyMapping mapping;                // A: the checkpoint, B: the run
    std::vector<RecordedKeyDiff> keys; // the checkpoint's order, then what only the run has
    std::uint64_t bytesRead = 0;

    // Of what was recorded key by key; without such records, of all parameters together.
    bool equal() const;
};

// `records`: of one rank and one step; without any, no keys are compared. Compared is the model part of the checkpoint, or all
// tensors if it has none. Further names of a tensor that the run records once (tied weights) are left out.
RunDiff diffAgainstRecords(const Checkpoint& checkpoint, std::span<const TensorRecord> records,
                           const DiffOptions& options = {});

// The fingerprint over all parameters numbered through, as a run records it at every step (Quantity::ParamFingerprint): it tells at
// which step, if any, the checkpoint was the run's model. The parameters are the floats of the model part without running
// statistics, in the order of the file. nullopt if there are none, or one cannot be read.
std::optional<std::uint64_t> parameterFingerprint(const Checkpoint& checkpoint);

} // namespace lockstep
