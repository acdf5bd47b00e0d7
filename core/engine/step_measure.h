// Reduces the tensors of a StepJob to the numbers of a StepRecord, and with level `tensor` to one
// TensorRecord per parameter and buffer. Pure arithmetic on the recorder's thread.
#pragma once

#include "core/engine/step_job.h"

#include <map>
#include <vector>

namespace lockstep {

class StepMeasure
{
public:
    StepMeasure(StateNames names, bool perTensor);

    // Completes job.record. `tensors` receives the TensorRecords of the step where they are asked for.
    void measure(StepJob& job, std::vector<TensorRecord>& tensors);

private:
    struct State { // results that ranks with the same parameters share
        std::vector<double> updateNorms;
        std::vector<std::uint64_t> parameterPrints;
        std::vector<double> parameterNorms;
        std::uint64_t parameters = 0;
        std::uint64_t optimizer = 0;
        double update = 0;
        bool hasUpdate = false;
    };

    void measureGradients(StepJob& job);
    void measureState(StepJob& job);
    void addTensorRecords(const StepJob& job, std::vector<TensorRecord>& tensors) const;

    StateNames names_;
    bool perTensor_;
    std::vector<std::uint8_t> signs_;                     // of the projections, for all parameters
    std::map<std::int32_t, std::vector<float>> previous_; // per rank: the parameters after the step before
    State state_;
};

} // namespace lockstep
