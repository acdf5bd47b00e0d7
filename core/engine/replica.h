// Everything one rank owns and does within an optimizer step. The real run has one per process, the twin one
// per replayed rank; what differs between them (how gradients and buffers travel) is behind GradientExchange.
#pragma once

#include "core/config/run_config.h"
#include "core/engine/bucket_layout.h"
#include "core/engine/data_order.h"
#include "core/engine/evaluation.h"
#include "core/engine/fault.h"
#include "core/engine/grad_scaler.h"
#include "core/engine/lr_scheduler.h"
#include "core/engine/optimizer.h"
#include "core/engine/rank_lanes.h"
#include "core/engine/workload.h"
#include "core/wire/codec.h"

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
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
    std::int64_t all = 0; // samples of all ranks in this micro-batch; 0: as many on each
};

// What one optimizer step of one rank measured besides its tensors. Times in seconds.
struct StepFacts {
    std::int64_t step = 0;
    std::vector<MicroFacts> micros;
    double rate = 0;                     // learning rate used
    float clipNorm = 0;                  // torch's value; only with clipping by norm
    std::int64_t allTokens = 0;          // of all ranks together; 0: not counted
    double scale = 0;                    // of the gradient scaler in this step; 0: none
    bool foundInf = false;               // the update was left out
    std::optional<double> logged;        // only where the loss was shown
    std::optional<EvalFacts> evaluation; // only where the model was evaluated after this step
    double timeData = 0;
    double timeForward = 0;
    double timeBackward = 0;
    double timeWait = 0;
    double timeOptimizer = 0;
    double timeStep = 0;

    double loss() const; // mean over the micro-batches
};

class GradientExchange
{
public:
    virtual ~GradientExchange() = default;
    // `synchronise` is false inside no_sync(): gradients stay local.
    virtual void beforeForward(Replica&, bool /*synchronise*/) {}
    virtual void afterForward(Replica&, const at::Tensor& /*output*/, bool /*synchronise*/) {}
    // How gradients lie in flat buffers from the next step on; empty where they do not. Collective: every rank calls it
    // after the same step.
    virtual Buckets buckets() { return {}; }
    // Tokens of this step on all ranks together.
    virtual std::int64_t sumOverRanks(std::int64_t own) { return own; }
    // This step's losses of all ranks added up.
    virtual double sumLosses(double own) { return own; }
    // Evaluation: every rank works with the buffers its wrapper would give it; the sums of all ranks.
    virtual void beforeEvaluation(Replica&) {}
    virtual EvalSums sumEvaluation(const EvalSums& own) { return own; }
    // Instead of the Reducer: clips this rank's gradients, then averages them parameter by parameter.
    virtual void averageByHand(Replica&) {}
    // The twin waits for all ranks before it reduces; the Reducer works during the backward.
    virtual bool reducesLater() const { return false; }
};

// Sees the gradients on their way; the step probe implements it.
class StepObserver
{
public:
    virtual ~StepObserver() = default;
    // `local`: the next backward leaves this rank's gradients as they enter the reduction (or the update).
    virtual void beforeBackward(bool /*local*/) {}
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
    // Generator states of the lanes; undefined ones get a stream of their own, unlike any other at this step.
    void restoreStreams(const std::vector<at::Tensor>& states);
    // The sample that `id` brings, and the seed of the loader's workers in this epoch: as the rank has them,
    // planted faults included.
    std::int64_t contentOf(std::int64_t id) const;
    std::uint64_t baseSeed() const;
    bool dataHasLength() const;

    // Fetches the micro-batches of the next optimizer step; returns how many tokens they hold (0: none counted).
    std::int64_t fetch();
    // Forward and backward of what was fetched. `allTokens`: tokens of this step on all ranks; where it is above 0 every
    // token weighs the same, however unevenly the ranks are filled. With an exchange that reduces later it returns
    // after the synchronised pass and goes on when called again.
    void forwardBackward(GradientExchange& exchange, std::int64_t allTokens);
    bool hasPassesLeft() const { return nextMicro_ < fetched_.size(); }
    // By the joint norm, in place; notes the norm it worked with.
    void clipGradients();
    // The loss as a script shows it: every config.logEvery steps, on rank 0. After update(); collective.
    void logLoss(GradientExchange& exchange);
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

    bool broadcastsBuffers(std::int64_t step) const; // before a forward that follows a synchronised pass
    bool broadcastsInitialState() const;             // in DDP's constructor

    // What planted faults make of the step in progress (faults/replica_hooks.cpp).
    bool reducesGradients() const;              // one of its passes synchronises
    bool averagesByHand() const;                // clips its own gradients, then averages them one by one
    ReductionForm reductionForm() const;        // as configured, or as a fault has it
    std::vector<std::size_t> inBuckets() const; // parameters that the wrapper knows of
    bool writesCheckpoint() const;              // rank 0 does
    bool restores(SavedPart part) const;        // on a resume
    bool trimsEvaluation() const;               // leaves the sampler's padding out of the metric

    const RunConfig& config() const { return config_; }
    const FaultSet& faults() const { return faults_; }
    const Workload& workload() const { return workload_; }
    const std::vector<at::Tensor>& parameters() const { return parameters_; }
    const std::vector<std::string>& parameterNames() const { return parameterNames_; }
    const std::vector<at::Tensor>& buffers() const { return buffers_; }
    const std::vector<std::string>& bufferNames() const { return bufferNames_; }
    Model& model() { return *model_; }
    Optimizer& optimizer() { return *optimizer_; }
    GradScaler* scaler() { return scaler_.get(); } // null unless fp16
    LrScheduler& scheduler() { return *scheduler_; }
    RankLanes& lanes() { return *lanes_; }
    DataOrder& data() { return lanes_->data(); }
    StepFacts& facts() { return facts_; }
    std::int64_t samplesSeen() const { return samplesSeen_; } // by all ranks together
    std::int64_t tokensSeen() const { return tokensSeen_; }

    // For heartbeats and the capture of local gradients; may be null.
    void attach(Recorder* recorder, StepObserver* observer);
    // Continues at a saved place.
    void restore(std::int64_t step, std::int64_t samplesSeen, std::int64_t tokensSeen);

private:
    struct Fetched {
        Batch batch;
        std::size_t lane = 0;
    };

    DataOrderSpec orderSpec() const;
    std::uint64_t streamSeed(int rank) const;
    Batch fetch(std::vector<std::int64_t> ids) const;
    at::Tensor scaled(at::Tensor loss, int micro, std::int64_t allTokens) const;
    LossReduction reduction(std::int64_t allTokens) const;
    void forwardBackward(GradientExchange& exchange, Batch& batch, int micro, std::int64_t allTokens);
    Pass passOf(int micro) const;
    ParameterPlace placeOf(std::size_t parameter) const;
    void chooseTraining(int micro);
    void enterPass(Batch& batch, int micro);
    void leavePass(int micro);
    void afterReduction();
    bool optimizerUpdates() const;
    void excludeFromDecay();
    void clip(StepObserver* observer);
    void unscale();
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
    std::unique_ptr<GradScaler> scaler_;
    std::unique_ptr<RankLanes> lanes_;
    std::unique_ptr<LrScheduler> scheduler_;
    Recorder* recorder_ = nullptr;
    StepObserver* observer_ = nullptr;
    StepFacts facts_;
    std::vector<Fetched> fetched_;
    std::size_t nextMicro_ = 0;
    bool followsSync_ = true;  // false for the forward after a no_sync() pass
    std::vector<bool> frozen_; // by parameter, at the start of the last step; empty without faults
    std::int64_t clock_ = 0;   // monotonic ns: where the phase in progress began
    std::int64_t step_ = 0;
    std::int64_t totalSteps_ = 0;
    std::int64_t samplesSeen_ = 0;
    std::int64_t tokensSeen_ = 0;
    std::int64_t stepStarted_ = 0; // monotonic ns
};

} // namespace lockstep
