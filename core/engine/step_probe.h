// Collects what a step did for the recorder: copies a gradient only where the training will overwrite it
// before the recorder can read it, and otherwise hands out pointers (step_job.h).
#pragma once

#include "core/engine/communicator.h"
#include "core/engine/recorder.h"
#include "core/engine/replica.h"

#include <array>
#include <memory>
#include <vector>

namespace lockstep {

class StepProbe final : public StepObserver
{
public:
    StepProbe(Recorder& recorder, Replica& replica);
    ~StepProbe() override;

    // DDP: watches each parameter's gradient in the last backward of a step, before the Reducer takes it.
    void watchLocalGradients();
    // Twin: this replica's gradients are still its own.
    void captureLocalGradients();

    void beforeLastBackward() override;
    void beforeUpdate() override;
    void clipped() override;

    // Step 0: the state before training.
    void submitInitial(bool sharedState = false, const at::Tensor& generator = {});
    // After update(). `sharedState`: the parameters are those of the job before (twin). `generator`: the state of this
    // rank's stream where it is not the default generator's (twin).
    void submit(const CollectiveFacts& collectives, bool sharedState = false,
                const at::Tensor& generator = {});

private:
    class LocalHook;
    struct Copies { // one float buffer for all parameters, and which of them are in it
        std::vector<float> values;
        std::vector<bool> present;
    };

    void gradientReady(std::size_t parameter);
    void copyGradients(Copies& copies) const;
    void copyGradient(Copies& copies, std::size_t parameter) const;
    TensorSpans spansOf(const Copies& copies) const;
    TensorSpans gradientSpans() const;
    TensorSpan readable(const at::Tensor& t);
    void addFacts(StepRecord& record, const CollectiveFacts& collectives) const;
    void addSamples(StepJob& job) const;
    void addState(StepJob& job, const at::Tensor& generator);
    void copyBuffers(StepJob& job);

    Recorder& recorder_;
    Replica& replica_;
    std::vector<std::size_t> offsets_; // of each parameter in a Copies buffer
    std::size_t elements_ = 0;
    // Local gradients of the next step arrive while the recorder may still read those of the last one.
    std::array<Copies, 2> local_;
    std::size_t localTurn_ = 0;
    bool armed_ = false;
    bool hasLocal_ = false;
    std::int64_t lastReadyNs_ = 0;
    Copies reduced_; // only with clipping or bucket views
    Copies clippedCopies_;
    bool hasClipped_ = false;
    bool gradientsCopied_ = false;
    // Kept for the recorder: the gradients of the last step, then copies of what lies on a GPU.
    std::vector<at::Tensor> held_;
    std::vector<std::vector<std::uint8_t>> bufferCopies_;
    at::Tensor generatorCopy_;
    std::vector<std::uint64_t> contentHashes_; // by sample id
};

} // namespace lockstep
