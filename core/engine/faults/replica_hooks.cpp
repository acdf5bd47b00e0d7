// Where a replica asks the planted faults. Without faults every loop here ends at once.
#include "core/config/json.h"
#include "core/engine/recorder.h"
#include "core/engine/replica.h"

#include <ATen/ATen.h>

#include <utility>

namespace lockstep {

std::int64_t Replica::contentOf(std::int64_t id) const
{
    for (const auto& fault : faults_)
        id = fault->content(moment(), id, workload_.size());
    return id;
}

std::uint64_t Replica::baseSeed() const
{
    std::uint64_t seed = lanes_->data().baseSeed();
    for (const auto& fault : faults_)
        seed = fault->baseSeed(moment(), seed);
    return seed;
}

bool Replica::dataHasLength() const
{
    return faults_.all([](Fault& fault) { return fault.hasLength(); });
}

ParameterPlace Replica::placeOf(std::size_t parameter) const
{
    ParameterPlace place{
        parameterNames_[parameter],   parameter,         parameters_[parameter].numel(), 0, 0,
        parameters_[parameter].dim(), parameterNames_[0]};
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        place.before += i < parameter ? parameters_[i].numel() : 0;
        place.all += parameters_[i].numel();
    }
    return place;
}

std::vector<std::size_t> Replica::inBuckets() const
{
    std::vector<std::size_t> known;
    for (std::size_t i = 0; i < parameters_.size(); ++i)
        if (faults_.all([&](Fault& fault) { return fault.inBuckets(config_, placeOf(i)); }))
            known.push_back(i);
    return known;
}

void Replica::excludeFromDecay()
{
    if (faults_.empty())
        return;
    std::vector<bool> excluded;
    for (std::size_t i = 0; i < parameters_.size(); ++i)
        excluded.push_back(!faults_.all([&](Fault& fault) { return fault.decays(placeOf(i)); }));
    optimizer_->excludeFromDecay(std::move(excluded));
}

bool Replica::broadcastsInitialState() const
{
    return faults_.all([](Fault& fault) { return fault.broadcastInitialState(); });
}

bool Replica::broadcastsBuffers(std::int64_t step) const
{
    FaultMoment at = moment();
    at.step = step;
    return config_.broadcastBuffers && followsSync_ && !buffers_.empty() &&
           faults_.all([&at](Fault& fault) { return fault.broadcastBuffers(at); });
}

// Which parameters take part in a pass. That some join in a later step is an event of the run.
void Replica::chooseTraining(int micro)
{
    if (faults_.empty() && config_.freeze.empty())
        return;
    std::vector<std::string> joined;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const bool frozen = !config_.freeze.empty() && step_ + 1 < config_.freezeUntil &&
                            parameterNames_[i].starts_with(config_.freeze);
        const bool trains =
            !frozen && faults_.all([&](Fault& fault) { return fault.trains(moment(micro), placeOf(i)); });
        if (parameters_[i].requires_grad() != trains)
            parameters_[i].set_requires_grad(trains);
        if (micro > 0)
            continue;
        if (trains && i < frozen_.size() && frozen_[i])
            joined.push_back(parameterNames_[i]);
        frozen_.resize(parameters_.size());
        frozen_[i] = !trains;
    }
    if (joined.empty() || !recorder_)
        return;
    rapidjson::StringBuffer detail;
    JsonWriter json(detail);
    json.StartObject();
    json.Key("parameters");
    json.StartArray();
    for (const std::string& name : joined)
        json.String(name);
    json.EndArray();
    json.EndObject();
    EventRecord event;
    event.step = step_ + 1;
    event.kind = "unfreeze";
    event.detail = detail.GetString();
    recorder_->add(std::move(event));
}

void Replica::enterPass(Batch& batch, int micro)
{
    chooseTraining(micro);
    for (const auto& fault : faults_)
        fault->enterPass(moment(micro), parameters_, batch);
}

void Replica::leavePass(int micro)
{
    const at::NoGradGuard noGrad;
    for (const auto& fault : faults_) {
        fault->leavePass(moment(micro), parameters_, buffers_);
        if (std::size_t(micro) + 1 < fetched_.size())
            fault->accumulated(moment(micro), parameters_);
    }
}

// Token-weighted losses are sums that are divided by the tokens of all ranks.
LossReduction Replica::reduction(std::int64_t allTokens) const
{
    for (const auto& fault : faults_)
        if (fault->reduction() != LossReduction::Mean)
            return fault->reduction();
    return allTokens > 0 ? LossReduction::Sum : LossReduction::Mean;
}

Pass Replica::passOf(int micro) const
{
    const bool last = std::size_t(micro) + 1 == fetched_.size();
    return faults_.through(last ? Pass::Synchronised : Pass::Local,
                           [&](Fault& fault, Pass pass) { return fault.pass(moment(micro), pass); });
}

bool Replica::reducesGradients() const
{
    if (faults_.empty())
        return true;
    for (std::size_t k = 0; k < fetched_.size(); ++k)
        if (passOf(int(k)) == Pass::Synchronised)
            return true;
    return false;
}

bool Replica::averagesByHand() const
{
    return !faults_.all([](Fault& fault) { return !fault.averagesByHand(); });
}

ReductionForm Replica::reductionForm() const
{
    return faults_.through(config_.reduction == "ordered" ? ReductionForm::Ordered : ReductionForm::Native,
                           [](Fault& fault, ReductionForm form) { return fault.reductionForm(form); });
}

void Replica::afterReduction()
{
    for (const auto& fault : faults_)
        fault->reduced(moment(), parameters_);
}

bool Replica::optimizerUpdates() const
{
    return faults_.all([this](Fault& fault) { return fault.updates(moment()); });
}

bool Replica::writesCheckpoint() const
{
    return rank_ == 0 || !faults_.all([this](Fault& fault) { return !fault.writesCheckpoint(moment()); });
}

bool Replica::trimsEvaluation() const
{
    return faults_.all([](Fault& fault) { return fault.trimsEvaluation(); });
}

bool Replica::restores(SavedPart part) const
{
    return faults_.all([&](Fault& fault) { return fault.restores(moment(), part); });
}

void Replica::logLoss(GradientExchange& exchange)
{
    if (config_.logEvery == 0 || step_ % config_.logEvery != 0)
        return;
    const LogForm form =
        faults_.through(LogForm::Mean, [](Fault& fault, LogForm f) { return fault.logForm(f); });
    const double own = facts_.loss();
    const double shown = form == LogForm::Own ? own : exchange.sumLosses(own);
    if (rank_ == 0)
        facts_.logged = form == LogForm::Mean ? shown / double(world_) : shown;
}

} // namespace lockstep
