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

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// Who is asking, and when. `step` is the optimizer step in progress, counted from 1; 0 before training.
struct FaultMoment {
    int rank = 0;
    int world = 1;
    std::int64_t step = 0;
    int micro = 0;      // micro-batch within the step
    int accumulate = 1; // configured K
    int micros = 1;     // micro-batches in this step: K, or fewer at the end of an epoch
};

// One parameter of the model, for faults that hit some of them.
struct ParameterPlace {
    const std::string& name;
    std::size_t index;     // in the order of the model
    std::int64_t elements; // of this parameter
    std::int64_t before;   // of all parameters before it
    std::int64_t all;      // of all parameters
    std::int64_t dimensions;
    const std::string& first; // name of the model's first parameter
};

// How a backward is told to treat the gradients.
enum class Pass {
    Local,        // inside no_sync(): they stay on the rank
    Synchronised, // the Reducer takes them
    Unhooked,     // the wrapper expects to synchronise, but its hooks see none of them
};

enum class ReductionForm { Native, Ordered, Bf16 };

// Which number a script shows as its loss.
enum class LogForm { Mean, Own, Sum };

// The parts of a checkpoint that a resume can forget.
enum class SavedPart { Model, Optimizer, Generators };

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
    virtual bool inBuckets(const RunConfig&, const ParameterPlace&) { return true; }
    virtual bool decays(const ParameterPlace&) { return true; } // its update includes weight decay
    // Forward and loss. A parameter that does not train is no part of the pass.
    virtual bool trains(const FaultMoment&, const ParameterPlace&) { return true; }
    virtual bool broadcastBuffers(const FaultMoment&) { return true; }
    virtual void enterPass(const FaultMoment&, const std::vector<at::Tensor>& /*parameters*/, Batch&) {}
    virtual void leavePass(const FaultMoment&, const std::vector<at::Tensor>& /*parameters*/,
                           const std::vector<at::Tensor>& /*buffers*/)
    {
    }
    virtual LossReduction reduction() { return LossReduction::Mean; }
    virtual bool weighsTokens() { return true; }
    virtual double divisor(const FaultMoment&, double micros) { return micros; } // of a micro-batch's loss
    virtual void loss(const FaultMoment&, at::Tensor& /*loss*/) {}               // before backward
    // Reduction.
    virtual Pass pass(const FaultMoment&, Pass planned) { return planned; }
    // The script clips under no_sync() and then averages parameter by parameter.
    virtual bool averagesByHand() { return false; }
    virtual ReductionForm reductionForm(ReductionForm planned) { return planned; }
    // Gradients after the backward of a micro-batch that is not the last; after all of them and the reduction.
    virtual void accumulated(const FaultMoment&, const std::vector<at::Tensor>& /*parameters*/) {}
    virtual void reduced(const FaultMoment&, const std::vector<at::Tensor>& /*parameters*/) {}
    // Clipping: the norm this rank works with, a float32 scalar.
    virtual at::Tensor clipNorm(const FaultMoment&, const std::vector<at::Tensor>& /*parameters*/,
                                at::Tensor norm)
    {
        return norm;
    }
    // Gradient scaler: whether this rank believes that the gradients hold inf or NaN.
    virtual bool foundInf(const FaultMoment&, bool found) { return found; }
    // Optimizer and schedule.
    virtual double learningRate(const FaultMoment&, double rate) { return rate; }
    virtual int schedulerSteps(const FaultMoment&, int steps) { return steps; }
    virtual bool updates(const FaultMoment&) { return true; } // false: the optimizer holds other tensors
    // What is shown and saved.
    virtual LogForm logForm(LogForm planned) { return planned; }
    virtual bool writesCheckpoint(const FaultMoment&) { return false; } // rank 0 does anyway
    virtual bool trimsEvaluation() { return true; } // false: its padding enters the metric
    // Called once per part on a resume.
    virtual bool restores(const FaultMoment&, SavedPart) { return true; }
};

// All faults of a run; each hook asks them in the order of the configuration.
class FaultSet
{
public:
    FaultSet() = default;
    // Errors: an id that the engine cannot play, or a parameter that is not a number.
    static Result<FaultSet> create(const std::vector<FaultSpec>& specs);

    bool ranksDiverge() const { return ranksDiverge_; }
    bool empty() const { return faults_.empty(); }
    auto begin() const { return faults_.begin(); }
    auto end() const { return faults_.end(); }

    // `value` as it leaves all faults, each asked by `change(fault, value)`.
    template<typename T, typename Change>
    T through(T value, Change change) const
    {
        for (const auto& fault : faults_)
            value = change(*fault, std::move(value));
        return value;
    }
    template<typename Predicate>
    bool all(Predicate holds) const
    {
        for (const auto& fault : faults_)
            if (!holds(*fault))
                return false;
        return true;
    }

private:
    std::vector<std::unique_ptr<Fault>> faults_;
    bool ranksDiverge_ = false;
};

// Errors (Usage): a fault of this run that would change nothing in it, with what it needs (faults/fault_needs.cpp).
Status checkFaultNeeds(const RunConfig& config, const Workload& workload);

struct FaultEntry {
    FaultInfo info;
    std::unique_ptr<Fault> (*create)(const FaultSpec& spec);
};

std::vector<FaultEntry>& faultRegistry();
const FaultEntry* faultEntryOf(const std::string& id); // null: the engine cannot play it

struct FaultRegistration {
    explicit FaultRegistration(FaultEntry entry) { faultRegistry().push_back(std::move(entry)); }
};

// As several faults describe their parameter "step".
inline constexpr const char* kFirstStep = "step: first step that has it (1)";

// The usual entry: a fault class that is made from its FaultSpec.
template<typename T>
FaultEntry faultEntry(FaultInfo info)
{
    return {std::move(info),
            [](const FaultSpec& spec) -> std::unique_ptr<Fault> { return std::make_unique<T>(spec); }};
}

template<typename T>
FaultRegistration faultRegistration(FaultInfo info)
{
    return FaultRegistration(faultEntry<T>(std::move(info)));
}

// Parameter `name` of a fault as a number; `otherwise` where it is not given. FaultSet::create checks the
// text.
double faultNumber(const FaultSpec& spec, const std::string& name, double otherwise);

// Whether the parameter belongs to what "param=..." names: its name or the start of it. Without "param" that is the
// model's first parameter, or with `module` all of the first module.
bool namedBy(const FaultSpec& spec, const ParameterPlace& place, bool module);

} // namespace lockstep
