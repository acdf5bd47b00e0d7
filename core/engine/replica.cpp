#include "core/engine/replica.h"

#include "core/engine/clipping.h"
#include "core/engine/recorder.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <utility>

namespace lockstep {

namespace {

void seedDefaultGenerator(std::uint64_t seed)
{
    at::manual_seed(seed);
}

double secondsSince(std::int64_t& from)
{
    const std::int64_t now = monotonicNs();
    const double seconds = double(now - from) * 1e-9;
    from = now;
    return seconds;
}

} // namespace

std::uint64_t drawSeed()
{
    return std::uint64_t(at::empty({}, at::kLong).random_().item<std::int64_t>());
}

Replica::Replica(const RunConfig& config, const Workload& workload, const FaultSet& faults, int rank,
                 int world)
    : config_(config), workload_(workload), faults_(faults), rank_(rank), world_(world)
{
    std::uint64_t seed = config_.seed;
    for (const auto& fault : faults_)
        seed = fault->modelSeed(moment(), seed);
    seedDefaultGenerator(seed);
    model_ = workload_.model(); // weights are drawn on the CPU, so that they do not depend on the device
    if (config_.device == "cuda")
        model_->to(at::kCUDA);
    for (const auto& p : model_->named_parameters()) {
        parameterNames_.push_back(p.key());
        parameters_.push_back(p.value());
    }
    for (const auto& b : model_->named_buffers()) {
        bufferNames_.push_back(b.key());
        buffers_.push_back(b.value());
    }
    optimizer_ = makeOptimizer(config_, parameters_.size());
    data_ = std::make_unique<DataOrder>(
        orderSpec(),
        [this](DataOrderSpec& spec) {
            for (const auto& fault : faults_)
                fault->order(moment(), spec);
        },
        [this](const DataOrderSpec&, std::vector<std::int64_t>& ids) {
            for (const auto& fault : faults_)
                fault->dealtIds(moment(), ids);
        });
    totalSteps_ = config_.steps > 0 ? config_.steps : config_.epochs * data_->stepsPerEpoch();
    double rate = config_.lr;
    for (const auto& fault : faults_)
        rate = fault->learningRate(moment(), rate);
    scheduler_ = std::make_unique<LrScheduler>(config_.scheduler, rate, config_.schedulerPeriod, totalSteps_);
}

DataOrderSpec Replica::orderSpec() const
{
    // DDP of one rank can train on the global batches of a larger world too: then only the wrapper is new.
    const bool single = config_.mode == "single" || (config_.mode == "ddp" && world_ == 1);
    DataOrderSpec spec;
    spec.sampler.datasetSize = workload_.size();
    spec.sampler.world = single ? config_.alignWorld : world_;
    spec.sampler.shuffle = config_.shuffle;
    spec.sampler.dropLast = config_.dropLast;
    spec.sampler.seed = config_.samplerSeed;
    spec.rank = rank_;
    spec.joinedRanks = single ? config_.alignWorld : 0;
    spec.joinFrom = config_.joinFrom;
    spec.pythonShuffle = config_.mode == "single" && config_.order == "python";
    spec.batch = config_.batch;
    spec.accumulate = config_.accumulate;
    return spec;
}

FaultMoment Replica::moment(int micro) const
{
    return {rank_, world_, step_ + 1, micro, config_.accumulate};
}

void Replica::seedStream()
{
    std::uint64_t seed = config_.seed + std::uint64_t(rank_);
    for (const auto& fault : faults_)
        seed = fault->streamSeed(moment(), seed);
    seedDefaultGenerator(seed);
}

std::int64_t Replica::contentOf(std::int64_t id) const
{
    for (const auto& fault : faults_)
        id = fault->content(moment(), id, workload_.size());
    return id;
}

std::uint64_t Replica::baseSeed() const
{
    std::uint64_t seed = data_->baseSeed();
    for (const auto& fault : faults_)
        seed = fault->baseSeed(moment(), seed);
    return seed;
}

bool Replica::dataHasLength() const
{
    bool length = true;
    for (const auto& fault : faults_)
        length = length && fault->hasLength();
    return length;
}

Batch Replica::fetch(std::vector<std::int64_t> ids) const
{
    if (faults_.begin() == faults_.end())
        return workload_.batch(std::move(ids));
    std::vector<std::int64_t> contents;
    for (const std::int64_t id : ids)
        contents.push_back(contentOf(id));
    Batch batch = workload_.batch(std::move(contents));
    batch.ids = std::move(ids);
    return batch;
}

void Replica::attach(Recorder* recorder, StepObserver* observer)
{
    recorder_ = recorder;
    observer_ = observer;
}

void Replica::restore(std::int64_t step, std::int64_t samplesSeen, std::int64_t tokensSeen)
{
    step_ = step;
    samplesSeen_ = samplesSeen;
    tokensSeen_ = tokensSeen;
}

void Replica::stage(wire::Stage stage)
{
    if (recorder_)
        recorder_->stage(stage);
    for (const auto& fault : faults_)
        fault->stage(moment(), stage);
}

bool Replica::synchronises() const
{
    for (const auto& fault : faults_)
        if (!fault->synchronise(moment()))
            return false;
    return true;
}

bool Replica::broadcastsBuffers() const
{
    bool wanted = config_.broadcastBuffers && !buffers_.empty();
    for (const auto& fault : faults_)
        wanted = wanted && fault->broadcastBuffers(moment());
    return wanted;
}

bool Replica::broadcastsInitialState() const
{
    for (const auto& fault : faults_)
        if (!fault->broadcastInitialState())
            return false;
    return true;
}

// Token-weighted losses are sums that are divided by the tokens of all ranks.
LossReduction Replica::reduction(std::int64_t allTokens) const
{
    for (const auto& fault : faults_)
        if (fault->reduction() != LossReduction::Mean)
            return fault->reduction();
    return allTokens > 0 ? LossReduction::Sum : LossReduction::Mean;
}

// Means are divided by the number of micro-batches in the window, which can be short at the end of an epoch. Sums over
// tokens become W * sum / allTokens: DDP's mean over ranks then is the mean over all tokens.
at::Tensor Replica::scaled(at::Tensor loss, int micro, std::int64_t allTokens) const
{
    const auto micros = std::int64_t(fetched_.size());
    bool divide = true;
    for (const auto& fault : faults_)
        divide = divide && fault->divideByAccumulation();
    if (allTokens > 0)
        loss = loss * (double(world_) / double(allTokens) * (divide ? 1.0 : double(micros)));
    else if (divide && micros > 1)
        loss = loss / micros;
    for (const auto& fault : faults_)
        fault->loss(moment(micro), loss);
    return loss;
}

std::int64_t Replica::fetch()
{
    stepStarted_ = monotonicNs();
    clock_ = stepStarted_;
    facts_ = {};
    fetched_.clear();
    stage(wire::Stage::Data);
    std::int64_t tokens = 0;
    for (MicroBatch& micro : data_->nextStep(drawSeed)) {
        fetched_.push_back(workload_.batch(std::move(micro.ids)));
        Batch& batch = fetched_.back();
        if (config_.device == "cuda") {
            batch.input = batch.input.to(at::kCUDA);
            batch.target = batch.target.to(at::kCUDA);
        }
        tokens += batch.tokens;
        facts_.micros.push_back({0, micro.epoch, batch.tokens, {}});
    }
    facts_.timeData = secondsSince(clock_);
    return tokens;
}

void Replica::forwardBackward(GradientExchange& exchange, std::int64_t allTokens)
{
    clock_ = monotonicNs();
    for (std::size_t k = 0; k < fetched_.size(); ++k)
        forwardBackward(exchange, fetched_[k], int(k), allTokens);
}

void Replica::forwardBackward(GradientExchange& exchange, Batch& batch, int micro, std::int64_t allTokens)
{
    const bool last = std::size_t(micro) + 1 == fetched_.size();
    const bool synchronise = last && synchronises();
    stage(wire::Stage::Forward);
    exchange.beforeForward(*this, synchronise);
    const at::Tensor output = model_->forward(batch);
    exchange.afterForward(*this, output, synchronise);
    at::Tensor loss = workload_.loss(output, batch, reduction(allTokens));
    MicroFacts& facts = facts_.micros[std::size_t(micro)];
    facts.loss = loss.item<double>();
    if (allTokens > 0)
        facts.loss /= double(batch.tokens);
    facts.ids = std::move(batch.ids);
    facts_.timeForward += secondsSince(clock_);
    stage(wire::Stage::Backward);
    if (last && observer_)
        observer_->beforeLastBackward();
    scaled(std::move(loss), micro, allTokens).backward();
    facts_.timeBackward += secondsSince(clock_);
}

void Replica::clip(StepObserver* observer)
{
    if (config_.clipNorm > 0)
        facts_.clipNorm = clipByNorm(parameters_, config_.clipNorm);
    if (config_.clipValue > 0)
        clipByValue(parameters_, config_.clipValue);
    if (clips() && observer)
        observer->clipped();
}

void Replica::update(StepObserver* observer)
{
    const at::NoGradGuard noGrad;
    stage(wire::Stage::Optimizer);
    clock_ = monotonicNs();
    if (observer)
        observer->beforeUpdate();
    clip(observer);
    facts_.rate = scheduler_->rate();
    {
        // Nothing here is differentiated: skip autograd's layers of the dispatcher. The kernels are the same.
        const at::AutoDispatchBelowADInplaceOrView direct;
        optimizer_->step(parameters_, facts_.rate);
    }
    facts_.timeOptimizer = secondsSince(clock_);
    finishStep();
}

void Replica::adoptUpdate(const Replica& leader, StepObserver* observer)
{
    const at::NoGradGuard noGrad;
    if (observer) {
        observer->beforeUpdate();
        clip(observer); // this rank's gradients are clipped for the record only
    }
    facts_.rate = leader.facts_.rate;
    facts_.clipNorm = leader.facts_.clipNorm;
    optimizer_->restoreSteps(leader.optimizer_->steps());
    finishStep();
}

void Replica::finishStep()
{
    int advances = 1;
    for (const auto& fault : faults_)
        advances = fault->schedulerSteps(moment(), advances);
    for (int k = 0; k < advances; ++k)
        scheduler_->advance();
    for (const at::Tensor& p : parameters_)
        p.mutable_grad().reset();
    for (const MicroFacts& micro : facts_.micros) {
        samplesSeen_ += std::int64_t(micro.ids.size()) * world_;
        tokensSeen_ += micro.tokens * world_;
    }
    facts_.step = ++step_;
    facts_.timeStep = double(monotonicNs() - stepStarted_) * 1e-9;
}

} // namespace lockstep
