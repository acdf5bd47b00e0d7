// Deliberate deviations: each fault of the catalogue that the engine can play overrides the hooks it needs.
// Off unless the configuration names it; used by tests, demos and proof by replay, where the twin plays the
// same fault.
#pragma once

#include "core/config/run_config.h"
#include "core/engine/catalogue.h"
#include "core/engine/data_order.h"
#include "core/engine/workload.h"
#include "core/wire/codec.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

namespace lockstep {

// Who is asking, and when. `step` is the optimizer step in progress, counted from 1; 0 before training.
struct FaultMoment {
    int rank = 0;
    int world = 1;
    std::int64_t step = 0;
    int micro = 0;      // micro-batch within the step
    int accumulate = 1; // configured K
};

class Fault
{
public:
    virtual ~Fault() = default;

    // A stage of the step begins. May throw, wait, or stop the process (drills).
    virtual void stage(const FaultMoment&, wire::Stage) {}
    // Data. `spec` is about to order one epoch; `ids` are what one rank was dealt.
    virtual void order(const FaultMoment&, DataOrderSpec& /*spec*/) {}
    virtual void dealtIds(const FaultMoment&, std::vector<std::int64_t>& /*ids*/) {}
    // Which sample `id` brings on this rank.
    virtual std::int64_t content(const FaultMoment&, std::int64_t id, std::int64_t /*datasetSize*/)
    {
        return id;
    }
    // False: the dataset claims to be a stream.
    virtual bool hasLength() { return true; }
    // What the loader drew for its workers; the seed of the rank's own generator.
    virtual std::uint64_t baseSeed(const FaultMoment&, std::uint64_t seed) { return seed; }
    virtual std::uint64_t streamSeed(const FaultMoment&, std::uint64_t seed) { return seed; }
    // Construction.
    virtual std::uint64_t modelSeed(const FaultMoment&, std::uint64_t seed) { return seed; }
    virtual bool broadcastInitialState() { return true; }
    // Forward and loss.
    virtual bool broadcastBuffers(const FaultMoment&) { return true; }
    virtual LossReduction reduction() { return LossReduction::Mean; }
    virtual bool divideByAccumulation() { return true; }
    virtual void loss(const FaultMoment&, at::Tensor& /*loss*/) {} // before backward
    // Reduction. False: this rank leaves no_sync on for this step.
    virtual bool synchronise(const FaultMoment&) { return true; }
    // Optimizer and schedule.
    virtual double learningRate(const FaultMoment&, double rate) { return rate; }
    virtual int schedulerSteps(const FaultMoment&, int steps) { return steps; }
};

// All faults of a run; each hook asks them in the order of the configuration.
class FaultSet
{
public:
    FaultSet() = default;
    // Errors: an id that the engine cannot play, or a parameter that is not a number.
    static Result<FaultSet> create(const std::vector<FaultSpec>& specs);

    bool ranksDiverge() const { return ranksDiverge_; }
    auto begin() const { return faults_.begin(); }
    auto end() const { return faults_.end(); }

private:
    std::vector<std::unique_ptr<Fault>> faults_;
    bool ranksDiverge_ = false;
};

struct FaultEntry {
    FaultInfo info;
    std::unique_ptr<Fault> (*create)(const FaultSpec& spec);
};

std::vector<FaultEntry>& faultRegistry();

struct FaultRegistration {
    explicit FaultRegistration(FaultEntry entry) { faultRegistry().push_back(std::move(entry)); }
};

// The usual entry: a fault class that is made from its FaultSpec.
template<typename T>
FaultEntry faultEntry(FaultInfo info)
{
    return {std::move(info),
            [](const FaultSpec& spec) -> std::unique_ptr<Fault> { return std::make_unique<T>(spec); }};
}

// Parameter `name` of a fault as a number; `otherwise` where it is not given. FaultSet::create checks the
// text.
double faultNumber(const FaultSpec& spec, const std::string& name, double otherwise);

} // namespace lockstep
