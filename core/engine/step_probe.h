// Measures what a step did and hands the records on. It looks at a gradient when it passes by: local ones as they arrive in
// the last backward, the reduced one before clipping, the clipped one after; nothing is copied.
#pragma once

#include "core/engine/communicator.h"
#include "core/engine/recorder.h"
#include "core/engine/replica.h"
#include "core/engine/step_measure.h"
#include "core/engine/tensor_keeper.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

namespace lockstep {

class StepProbe final : public StepObserver
{
public:
    // `leader`: the probe of the rank whose parameters this one shares (twin), or null.
    StepProbe(Recorder& recorder, Replica& replica, const StepProbe* leader = nullptr);
    ~StepProbe() override;
    // Level full: from now on `keeper` writes the tensors of its steps.
    void keepTensors(TensorKeeper keeper) { keeper_.emplace(std::move(keeper)); }

    // DDP: watches each parameter's gradient in the last backward of a step, before the Reducer takes it.
    void watchLocalGradients();
    // Twin: this replica's gradients are still its own.
    void captureLocalGradients();

    void beforeBackward(bool local) override;
    void beforeUpdate() override;
    void clipped() override;

    // Step 0: the state before training. `generator`: the state of this rank's stream where it is not in the default
    // generator (twin).
    void recordInitial(const at::Tensor& generator = {});
    // The same state where training goes on: that step has its record already, so this one is not sent.
    StepRecord measureState(const at::Tensor& generator = {});
    // After update().
    void record(const CollectiveFacts& collectives, const at::Tensor& generator = {});
    // Of the evaluation after that step: a record of its own, so that one that fails does not take the step's with it.
    void recordEvaluation();

private:
    class LocalHook;

    void gradientReady(std::size_t parameter);
    void measureGradients(GradientMeasure& measure) const;
    void addFacts(StepRecord& record) const;
    void addCollectives(StepRecord& record, const CollectiveFacts& collectives) const;
    void addGradients(StepRecord& record) const;
    double localScale() const; // local gradients are seen before they are unscaled
    void addState(StepRecord& record, const at::Tensor& generator);
    bool generatorMoved();
    std::uint64_t generatorPrint(const at::Tensor& generator);
    TensorSpan readable(const at::Tensor& t);
    void recordSamples(StepRecord& record);
    void recordTensors();
    bool keeps() const { return keeper_ && keeper_->wants(replica_.step() + 1); } // in the step in progress
    void noteGradients(const std::string& stage);
    void writeKept();
    const StateMeasure& state() const { return leader_ ? leader_->state_ : state_; }

    Recorder& recorder_;
    Replica& replica_;
    const StepProbe* leader_;
    bool perTensor_;
    StateLayout layout_;
    GradientMeasure local_;
    GradientMeasure reduced_;
    GradientMeasure clipped_;
    StateMeasure state_;
    TensorSpans parameters_; // of the step that is measured; kept for their capacity
    TensorSpans optimizerState_;
    std::optional<TensorKeeper> keeper_;
    bool armed_ = false; // the next gradients are this rank's as they enter the reduction
    std::int64_t lastReadyNs_ = 0;
    std::vector<at::Tensor> hostCopies_;       // of what lies on a GPU, for as long as it is measured
    std::vector<std::uint64_t> contentHashes_; // by sample id
    // Where the default generator stood at the last step, and its fingerprint there.
    using GeneratorPlace =
        std::tuple<std::uint64_t, int, std::int64_t, std::uint32_t, std::uint32_t, bool, bool>;
    GeneratorPlace generatorPlace_{0, -1, -1, 0, 0, false, false};
    std::uint64_t generatorPrint_ = 0;
};

} // namespace lockstep
