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
    model_ = workload_.model();
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
    seedDefaultGenerator(config_.seed + std::uint64_t(rank_));
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

// A window at the end of an epoch can hold fewer micro-batches than configured; the loss is divided by what
// it holds.
at::Tensor Replica::scaled(at::Tensor loss, int micro, int micros) const
{
    bool divide = micros > 1;
    for (const auto& fault : faults_)
        divide = divide && fault->divideByAccumulation();
    if (divide)
        loss = loss / micros;
    for (const auto& fault : faults_)
        fault->loss(moment(micro), loss);
    return loss;
}

void Replica::forwardBackward(GradientExchange& exchange)
{
    stepStarted_ = monotonicNs();
    std::int64_t clock = stepStarted_;
    facts_ = {};
    LossReduction reduction = LossReduction::Mean;
    bool synchroniseAtAll = true;
    for (const auto& fault : faults_) {
        if (fault->reduction() != LossReduction::Mean)
            reduction = fault->reduction();
        synchroniseAtAll = synchroniseAtAll && fault->synchronise(moment());
    }
    if (recorder_)
        recorder_->stage(wire::Stage::Data);
    std::vector<MicroBatch> micros = data_->nextStep(drawSeed);
    const int count = int(micros.size());
    for (int k = 0; k < count; ++k) {
        const Batch batch = workload_.batch(std::move(micros[std::size_t(k)].ids));
        facts_.timeData += secondsSince(clock);
        const bool last = k + 1 == count;
        const bool synchronise = last && synchroniseAtAll;
        if (recorder_)
            recorder_->stage(wire::Stage::Forward);
        exchange.beforeForward(*this, synchronise);
        const at::Tensor output = model_->forward(batch);
        exchange.afterForward(*this, output, synchronise);
        at::Tensor loss = workload_.loss(output, batch, reduction);
        facts_.micros.push_back(
            {loss.item<double>(), micros[std::size_t(k)].epoch, batch.tokens, std::move(batch.ids)});
        facts_.timeForward += secondsSince(clock);
        if (recorder_)
            recorder_->stage(wire::Stage::Backward);
        if (last && observer_)
            observer_->beforeLastBackward();
        scaled(std::move(loss), k, count).backward();
        exchange.afterBackward(*this, synchronise);
        facts_.timeBackward += secondsSince(clock);
    }
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
    if (recorder_)
        recorder_->stage(wire::Stage::Optimizer);
    std::int64_t clock = monotonicNs();
    if (observer)
        observer->beforeUpdate();
    clip(observer);
    facts_.rate = scheduler_->rate();
    optimizer_->step(parameters_, facts_.rate);
    facts_.timeOptimizer = secondsSince(clock);
    adoptUpdate(*this);
}

void Replica::adoptUpdate(const Replica& leader)
{
    if (&leader != this) {
        facts_.rate = leader.facts_.rate;
        facts_.clipNorm = leader.facts_.clipNorm;
    }
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
