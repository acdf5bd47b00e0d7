// Families B and C of the fault catalogue: gradients and states that ranks keep to themselves.
#include "core/engine/fault.h"

#include "core/sampling/torch_rng.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

// What these faults have in common: they act from one step on.
class FromStep : public Fault
{
public:
    FromStep(const FaultSpec& spec, double firstStep) : firstStep_(faultNumber(spec, "step", firstStep)) {}

protected:
    bool isDue(const FaultMoment& at) const { return double(at.step) >= firstStep_; }

private:
    double firstStep_;
};

// B8: no_sync() is entered and never left.
class NoSyncKept final : public FromStep
{
public:
    explicit NoSyncKept(const FaultSpec& spec) : FromStep(spec, 1) {}
    Pass pass(const FaultMoment& at, Pass planned) override { return isDue(at) ? Pass::Local : planned; }
};

// C1: the raw model is called. DDP's forward, which also broadcasts the buffers, never runs.
class WrapperBypassed final : public FromStep
{
public:
    explicit WrapperBypassed(const FaultSpec& spec) : FromStep(spec, 1) {}
    Pass pass(const FaultMoment& at, Pass planned) override { return isDue(at) ? Pass::Local : planned; }
    bool broadcastBuffers(const FaultMoment& at) override { return !isDue(at); }
};

// C2 and C6: DDP's forward runs as ever, buffers included, but no gradient reaches the Reducer any more.
class Unhooked : public FromStep
{
public:
    using FromStep::FromStep;
    Pass pass(const FaultMoment& at, Pass planned) override
    {
        return isDue(at) && planned == Pass::Synchronised ? Pass::Unhooked : planned;
    }
};
class HooksLost final : public Unhooked
{
public:
    explicit HooksLost(const FaultSpec& spec) : Unhooked(spec, 3) {}
};
class StaticGraphCounter final : public Unhooked
{
public:
    explicit StaticGraphCounter(const FaultSpec&) : Unhooked(FaultSpec(), 2) {}
};

// C7: every rank draws its own weights and nobody broadcasts rank 0's.
class InitialWeightsDiffer final : public Fault
{
public:
    explicit InitialWeightsDiffer(const FaultSpec&) {}
    std::uint64_t modelSeed(const FaultMoment& at, std::uint64_t seed) override
    {
        return seed + std::uint64_t(at.rank);
    }
    bool broadcastInitialState() override { return false; }
};

// C11: a stretch of what one rank receives arrives as zeros, another stretch in every step.
class LossyLink final : public FromStep
{
public:
    explicit LossyLink(const FaultSpec& spec)
        : FromStep(spec, 1), rank_(int(faultNumber(spec, "rank", -1))), share_(faultNumber(spec, "p", 0.01))
    {
    }
    void reduced(const FaultMoment& at, const std::vector<at::Tensor>& parameters) override
    {
        if (!isDue(at) || at.rank != (rank_ < 0 ? at.world - 1 : rank_))
            return;
        std::int64_t all = 0;
        for (const at::Tensor& p : parameters)
            all += p.numel();
        TorchRng generator{std::uint64_t(at.step)};
        const auto lost = std::clamp(std::int64_t(std::ceil(share_ * double(all))), std::int64_t(1), all);
        const auto from = std::int64_t(generator.random64() % std::uint64_t(all - lost + 1));
        std::int64_t before = 0;
        for (const at::Tensor& p : parameters) {
            const std::int64_t first = std::clamp<std::int64_t>(from - before, 0, p.numel());
            const std::int64_t last = std::clamp<std::int64_t>(from + lost - before, 0, p.numel());
            if (first < last && p.grad().defined())
                p.mutable_grad().view({-1}).slice(0, first, last).zero_();
            before += p.numel();
        }
    }

private:
    int rank_;
    double share_;
};

const FaultRegistration synchronisationRegistrations[] = {
    faultRegistration<NoSyncKept>({.id = "B8",
                                   .sentence = "gradients are never reduced: no_sync is left on",
                                   .parameters = {kFirstStep},
                                   .ranksDiverge = true,
                                   .title = "synchronisation off",
                                   .signs = "parameter checksums differ between ranks after that step; no "
                                            "collectives but one broadcast of buffers",
                                   .sources = "verl #7493"}),
    faultRegistration<WrapperBypassed>(
        {.id = "C1",
         .sentence = "the raw model is called instead of its wrapper",
         .parameters = {kFirstStep},
         .ranksDiverge = true,
         .title = "wrapper bypassed",
         .signs = "parameter checksums differ between ranks after step 1; no "
                  "collective at all",
         .sources = "minimind #853, PR #854; TrainCheck x-jxmnop; icefall #226"}),
    faultRegistration<HooksLost>(
        {.id = "C2",
         .sentence =
             "from a step on the parameters have new storage, and the Reducer's hooks watch the old one",
         .parameters = {"step: first step that has it (3)"},
         .ranksDiverge = true,
         .title = "hooks lost",
         .signs = "parameter checksums differ between ranks from that step on; buffers are still broadcast",
         .sources = "pytorch #104336"}),
    faultRegistration<StaticGraphCounter>(
        {.id = "C6",
         .sentence = "a static graph with no_sync: the counter of pending gradients never reaches zero again",
         .ranksDiverge = true,
         .title = "static_graph with no_sync",
         .signs = "step 1 is right; from step 2 on no reduction, parameter checksums differ between ranks",
         .sources = "pytorch PR #187732; accelerate #3679",
         .needs = {FaultNeed::Accumulation}}),
    faultRegistration<InitialWeightsDiffer>(
        {.id = "C7",
         .sentence = "ranks start from different weights: each draws its own and nothing is broadcast",
         .ranksDiverge = true,
         .title = "initial weights differ",
         .signs = "parameter checksums differ between ranks at step 0",
         .sources = "torchtitan #166, #1777; OLMo-core PR #319; llm-foundry PR #830; open_lm PR #139"}),
    faultRegistration<LossyLink>(
        {.id = "C11",
         .sentence = "a stretch of the gradients that one rank receives is zero",
         .parameters = {"rank: the rank that receives them (the last)", "p: share of all gradients (0.01)",
                        kFirstStep},
         .ranksDiverge = true,
         .title = "lossy link",
         .signs = "on one rank the reduced gradient is not the mean of the local ones; then checksums differ",
         .sources = "pytorch #84803, #96600; Baichuan2 #86",
         .needs = {FaultNeed::Several}}),
};

} // namespace

} // namespace lockstep
