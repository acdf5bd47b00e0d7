#include "core/engine/replica.h"

#include "core/engine/autocast.h"
#include "core/engine/clipping.h"
#include "core/engine/recorder.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <optional>
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

double StepFacts::loss() const
{
    double sum = 0;
    for (const MicroFacts& micro : micros)
        sum += micro.loss;
    return sum / double(micros.size());
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
    excludeFromDecay();
    if (config_.amp == "fp16")
        scaler_ = std::make_unique<GradScaler>(config_.scalerScale, config_.scalerGrowthInterval,
                                               parameters_.front().device());
    const int count = config_.dataWorld > 0 ? config_.dataWorld / world_ : 1;
    DataOrderSpec first = orderSpec();
    first.rank = rank_ * count;
    lanes_ = std::make_unique<RankLanes>(
        first, count,
        [this](DataOrderSpec& spec) {
            for (const auto& fault : faults_)
                fault->order(moment(), spec);
        },
        [this](const DataOrderSpec&, std::vector<std::int64_t>& ids) {
            for (const auto& fault : faults_)
                fault->dealtIds(moment(), ids);
        });
    totalSteps_ = config_.steps > 0 ? config_.steps : config_.epochs * data().stepsPerEpoch();
    double rate = config_.lr;
    for (const auto& fault : faults_)
        rate = fault->learningRate(moment(), rate);
    scheduler_ = std::make_unique<LrScheduler>(config_.scheduler, rate, config_.schedulerPeriod, totalSteps_);
}

DataOrderSpec Replica::orderSpec() const
{
    // DDP of one rank can train on the global batches of a larger world too: then only the wrapper is new.
    const bool joined =
        config_.dataWorld == 0 && (config_.mode == "single" || (config_.mode == "ddp" && world_ == 1));
    DataOrderSpec spec;
    spec.sampler.datasetSize = workload_.size();
    spec.sampler.world = dataRanks(config_);
    spec.sampler.shuffle = config_.shuffle;
    spec.sampler.dropLast = config_.dropLast;
    spec.sampler.seed = config_.samplerSeed;
    spec.joinedRanks = joined ? config_.alignWorld : 0;
    spec.joinFrom = config_.joinFrom;
    spec.pythonShuffle = config_.mode == "single" && config_.order == "python";
    spec.batch = config_.batch;
    spec.accumulate = config_.accumulate;
    return spec;
}

FaultMoment Replica::moment(int micro) const
{
    return {rank_, world_, step_ + 1, micro, config_.accumulate, int(fetched_.size())};
}

std::uint64_t Replica::streamSeed(int rank) const
{
    std::uint64_t seed = config_.seed + std::uint64_t(rank);
    for (const auto& fault : faults_)
        seed = fault->streamSeed(moment(), seed);
    return seed;
}

void Replica::seedStream()
{
    lanes_->seed([this](int rank) { return streamSeed(rank); });
}

void Replica::restoreStreams(const std::vector<at::Tensor>& states)
{
    // Ranks number at most 1,024, so no stream seeded at another step starts alike.
    lanes_->seed([this](int rank) { return streamSeed(rank) + (std::uint64_t(step_) << 20); });
    for (std::size_t l = 0; l < states.size(); ++l) {
        if (states[l].defined() && l > 0)
            lanes_->stream(l) = states[l];
        else if (states[l].defined())
            setDefaultGenerator(states[l]);
    }
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

// Means are divided by the number of micro-batches in the window, which can be short at the end of an epoch. Sums over
// tokens become W * sum / allTokens: DDP's mean over ranks then is the mean over all tokens.
at::Tensor Replica::scaled(at::Tensor loss, int micro, std::int64_t allTokens) const
{
    const auto micros = std::int64_t(fetched_.size());
    const double divisor = faults_.through(
        double(micros), [&](Fault& fault, double d) { return fault.divisor(moment(micro), d); });
    if (allTokens > 0)
        loss = loss * (double(world_) / double(allTokens) * (double(micros) / divisor));
    else if (divisor != 1)
        loss = loss / divisor;
    for (const auto& fault : faults_)
        fault->loss(moment(micro), loss);
    return scaler_ ? scaler_->scale(loss) : loss;
}

std::int64_t Replica::fetch()
{
    stepStarted_ = monotonicNs();
    clock_ = stepStarted_;
    facts_ = {};
    fetched_.clear();
    nextMicro_ = 0;
    stage(wire::Stage::Data);
    std::int64_t tokens = 0;
    for (RankLanes::Micro& micro : lanes_->nextStep()) {
        fetched_.push_back({onDevice(fetch(std::move(micro.data.ids)), config_), micro.lane});
        const Batch& batch = fetched_.back().batch;
        tokens += batch.tokens;
        facts_.micros.push_back({0, micro.data.epoch, batch.tokens, {}, micro.data.all});
    }
    facts_.timeData = secondsSince(clock_);
    return faults_.all([](Fault& fault) { return fault.weighsTokens(); }) ? tokens : 0;
}

void Replica::forwardBackward(GradientExchange& exchange, std::int64_t allTokens)
{
    clock_ = monotonicNs();
    facts_.allTokens = allTokens;
    while (nextMicro_ < fetched_.size()) {
        const std::size_t k = nextMicro_++;
        const std::size_t lane = fetched_[k].lane;
        std::optional<StreamScope> stream;
        std::optional<BufferKeeper> keeper;
        if (lane > 0) {
            stream.emplace(lanes_->stream(lane));
            keeper.emplace(buffers_);
        }
        forwardBackward(exchange, fetched_[k].batch, int(k), allTokens);
        if (exchange.reducesLater() && passOf(int(k)) == Pass::Synchronised)
            return;
    }
    if (averagesByHand())
        exchange.averageByHand(*this);
}

void Replica::forwardBackward(GradientExchange& exchange, Batch& batch, int micro, std::int64_t allTokens)
{
    const bool last = std::size_t(micro) + 1 == fetched_.size();
    const Pass pass = passOf(micro);
    const bool synchronise = pass == Pass::Synchronised;
    stage(wire::Stage::Forward);
    exchange.beforeForward(*this, synchronise);
    enterPass(batch, micro);
    at::Tensor loss;
    {
        const Autocast autocast(config_.amp, batch.input.device().type());
        const at::Tensor output = model_->forward(batch);
        exchange.afterForward(*this, output, synchronise);
        loss = workload_.loss(output, batch, reduction(allTokens));
    }
    followsSync_ = pass != Pass::Local;
    MicroFacts& facts = facts_.micros[std::size_t(micro)];
    facts.loss = loss.item<double>();
    if (allTokens > 0)
        facts.loss /= double(batch.tokens);
    facts.ids = std::move(batch.ids);
    facts_.timeForward += secondsSince(clock_);
    stage(wire::Stage::Backward);
    if (observer_)
        observer_->beforeBackward(synchronise || (last && !reducesGradients()));
    scaled(std::move(loss), micro, allTokens).backward();
    leavePass(micro);
    facts_.timeBackward += secondsSince(clock_);
}

void Replica::clipGradients()
{
    const at::Tensor norm = gradientNorm(parameters_);
    if (norm.defined())
        facts_.clipNorm =
            clipToNorm(parameters_,
                       faults_.through(norm,
                                       [this](Fault& fault, at::Tensor n) {
                                           return fault.clipNorm(moment(), parameters_, std::move(n));
                                       }),
                       config_.clipNorm);
}

void Replica::clip(StepObserver* observer)
{
    if (config_.clipNorm > 0 && !averagesByHand()) // else they were clipped before
        clipGradients();
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
    afterReduction();
    unscale();
    if (observer)
        observer->beforeUpdate();
    clip(observer);
    facts_.rate = scheduler_->rate();
    if (optimizerUpdates() && !facts_.foundInf) {
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
    if (observer || scaler_) {
        afterReduction();
        unscale();
    }
    if (observer) {
        observer->beforeUpdate();
        clip(observer); // this rank's gradients are clipped for the record only
    }
    facts_.rate = leader.facts_.rate;
    if (!averagesByHand()) // the norm is the rank's own then
        facts_.clipNorm = leader.facts_.clipNorm;
    optimizer_->restoreSteps(leader.optimizer_->steps());
    finishStep();
}

void Replica::unscale()
{
    if (!scaler_)
        return;
    facts_.scale = scaler_->value();
    scaler_->unscale(parameters_);
    for (const auto& fault : faults_)
        scaler_->setFoundInf(fault->foundInf(moment(), scaler_->foundInf()));
    facts_.foundInf = scaler_->foundInf();
}

void Replica::finishStep()
{
    if (scaler_)
        scaler_->update();
    int advances = 1;
    for (const auto& fault : faults_)
        advances = fault->schedulerSteps(moment(), advances);
    for (int k = 0; k < advances; ++k)
        scheduler_->advance();
    for (const at::Tensor& p : parameters_)
        p.mutable_grad().reset();
    std::int64_t ownTokens = 0;
    for (const MicroFacts& micro : facts_.micros) {
        samplesSeen_ += micro.all > 0 ? micro.all : std::int64_t(micro.ids.size()) * world_;
        ownTokens += micro.tokens * world_;
    }
    tokensSeen_ += facts_.allTokens > 0 ? facts_.allTokens : ownTokens;
    facts_.step = ++step_;
    facts_.timeStep = double(monotonicNs() - stepStarted_) * 1e-9;
}

} // namespace lockstep
