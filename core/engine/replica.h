// Everything one rank owns and does within an optimizer step. The real run has one per process, the twin one
// per replayed rank; what differs between them (how gradients and buffers travel) is behind GradientExchange.
#pragma once

#include "core/config/run_config.h"
#include "core/engine/data_order.h"
#include "core/engine/fault.h"
#include "core/engine/lr_scheduler.h"
#include "core/engine/optimizer.h"
#include "core/engine/workload.h"
#include "core/wire/codec.h"

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

namespace lockstep {

class Recorder;
class Replica;

struct MicroFacts {
    double loss = 0; // mean, before any scaling or reduction
    std::int64_t epoch = 0;
    std::int64_t tokens = 0;
    std::vector<std::int64_t> ids;
};

// What one optimizer step of one rank measured besides its tensors. Times in seconds.
struct StepFacts {
    std::int64_t step = 0;
    std::vector<MicroFacts> micros;
    double rate = 0;    // learning rate used
    float clipNorm = 0; // torch's value; only with clipping by norm
    double timeData = 0;
    double timeForward = 0;
    double timeBackward = 0;
    double timeWait = 0;
    double timeOptimizer = 0;
    double timeStep = 0;
};

class GradientExchange
{
public:
    virtual ~GradientExchange() = default;
    // `synchronise` is false inside no_sync(): gradients stay local.
    virtual void beforeForward(Replica&, bool /*synchronise*/) {}
    virtual void afterForward(Replica&, const at::Tensor& /*output*/, bool /*synchronise*/) {}
    // Tokens of this step on all ranks together.
    virtual std::int64_t sumOverRanks(std::int64_t own) { return own; }
};

// Sees the gradients on their way; the step probe implements it.
class StepObserver
{
public:
    virtual ~StepObserver() = default;
    // The next backward leaves this rank's final local gradients.
    virtual void beforeLastBackward() {}
    virtual void beforeUpdate() {} // gradients are reduced; parameters are about to change
    virtual void clipped() {}
};

class Replica
{
public:
    // Draws the initial weights from the default CPU generator, seeded with config.seed.
    Replica(const RunConfig& config, const Workload& workload, const FaultSet& faults, int rank, int world);

    // After the initial broadcast: seeds the default generator with seed + rank, this rank's own stream.
    void seedStream();
    // The sample that `id` brings, and the seed of the loader's workers in this epoch: as the rank has them,
    // planted faults included.
    std::int64_t contentOf(std::int64_t id) const;
    std::uint64_t baseSeed() const;
    bool dataHasLength() const;

    // Fetches the micro-batches of the next optimizer step; returns how many tokens they hold (0: none counted).
    std::int64_t fetch();
    // Forward and backward of what was fetched. `allTokens`: tokens of this step on all ranks; where it is above 0 every
    // token weighs the same, however unevenly the ranks are filled.
    void forwardBackward(GradientExchange& exchange, std::int64_t allTokens);
    // Clipping, optimizer, schedule. `observer` may be null.
    void update(StepObserver* observer);
    // The same for a twin rank whose parameters `leader` shares and has already updated.
    void adoptUpdate(const Replica& leader, StepObserver* observer);

    int rank() const { return rank_; }
    int world() const { return world_; }
    std::int64_t step() const { return step_; } // finished optimizer steps
    std::int64_t totalSteps() const { return totalSteps_; }
    bool clips() const { return config_.clipNorm > 0 || config_.clipValue > 0; }
    FaultMoment moment(int micro = 0) const;

    bool synchronises() const;           // false: a fault leaves no_sync on in the step in progress
    bool broadcastsBuffers() const;      // before a forward that follows a synchronised pass
    bool broadcastsInitialState() const; // in DDP's constructor

    const RunConfig& config() const { return config_; }
    const FaultSet& faults() const { return faults_; }
    const Workload& workload() const { return workload_; }
    const std::vector<at::Tensor>& parameters() const { return parameters_; }
    const std::vector<std::string>& parameterNames() const { return parameterNames_; }
    const std::vector<at::Tensor>& buffers() const { return buffers_; }
    const std::vector<std::string>& bufferNames() const { return bufferNames_; }
    Model& model() { return *model_; }
    Optimizer& optimizer() { return *optimizer_; }
    LrScheduler& scheduler() { return *scheduler_; }
    DataOrder& data() { return *data_; }
    StepFacts& facts() { return facts_; }
    std::int64_t samplesSeen() const { return samplesSeen_; } // by all ranks together
    std::int64_t tokensSeen() const { return tokensSeen_; }

    // For heartbeats and the capture of local gradients; may be null.
    void attach(Recorder* recorder, StepObserver* observer);
    // Continues at a saved place.
    void restore(std::int64_t step, std::int64_t samplesSeen, std::int64_t tokensSeen);

private:
    DataOrderSpec orderSpec() const;
    Batch fetch(std::vector<std::int64_t> ids) const;
    at::Tensor scaled(at::Tensor loss, int micro, std::int64_t allTokens) const;
    LossReduction reduction(std::int64_t allTokens) const;
    void forwardBackward(GradientExchange& exchange, Batch& batch, int micro, std::int64_t allTokens);
    void clip(StepObserver* observer);
    void finishStep();
    void stage(wire::Stage stage);

    const RunConfig config_;
    const Workload& workload_;
    const FaultSet& faults_;
    int rank_;
    int world_;
    std::shared_ptr<Model> model_;
    std::vector<at::Tensor> parameters_;
    std::vector<std::string> parameterNames_;
    std::vector<at::Tensor> buffers_;
    std::vector<std::string> bufferNames_;
    std::unique_ptr<Optimizer> optimizer_;
    std::unique_ptr<DataOrder> data_;
    std::unique_ptr<LrScheduler> scheduler_;
    Recorder* recorder_ = nullptr;
    StepObserver* observer_ = nullptr;
    StepFacts facts_;
    std::vector<Batch> fetched_;
    std::int64_t clock_ = 0; // monotonic ns: where the phase in progress began
    std::int64_t step_ = 0;
    std::int64_t totalSteps_ = 0;
    std::int64_t samplesSeen_ = 0;
    std::int64_t tokensSeen_ = 0;
    std::int64_t stepStarted_ = 0; // monotonic ns
};

// One int64 from the default generator, as torch.empty((), dtype=torch.int64).random_() draws it.
std::uint64_t drawSeed();

} // namespace lockstep
