// Level `full`: the tensors of chosen steps of one rank, written beside the records of its run, so that a difference that a
// fingerprint shows can be looked at element by element.
#pragma once

#include "core/base/status.h"
#include "core/config/step_choice.h"
#include "core/engine/checkpoint.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lockstep {

class TensorKeeper
{
public:
    // Files go to <runFolder>/tensors/step_NNNNNNNN_rankR.pt, written as checkpoints are.
    TensorKeeper(std::string runFolder, StepChoice steps);

    bool wants(std::int64_t step) const { return steps_.contains(step); }
    // Notes a gradient of the step in progress under "local", "reduced" or "clipped"; copies it.
    void note(const std::string& stage, const std::string& parameter, const at::Tensor& gradient);
    void forget() { noted_.clear(); } // a step begins
    // With parameters and buffers as they are now: after the update. Errors: the file cannot be written.
    Result<CheckpointWritten> write(Replica& replica);

private:
    std::string runFolder_;
    StepChoice steps_;
    std::map<std::string, std::vector<std::pair<std::string, at::Tensor>>> noted_; // by stage
};

} // namespace lockstep
