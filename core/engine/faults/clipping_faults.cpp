// Family D of the fault catalogue, clipping: which norm a rank takes for the joint one.
#include "core/engine/fault.h"

#include <ATen/ATen.h>

#include <cmath>

namespace lockstep {

namespace {

class ClippedBeforeReduction final : public Fault
{
public:
    explicit ClippedBeforeReduction(const FaultSpec&) {}
    Pass pass(const FaultMoment&, Pass) override { return Pass::Local; }
    bool averagesByHand() override { return true; }
};

std::vector<at::Tensor> flatGradients(const std::vector<at::Tensor>& parameters)
{
    std::vector<at::Tensor> flat;
    for (const at::Tensor& p : parameters)
        if (p.grad().defined())
            flat.push_back(p.grad().flatten());
    return flat;
}

// D4: each rank holds 1/W of the gradient and takes the norm of that for the whole.
class ShardNorm final : public Fault
{
public:
    explicit ShardNorm(const FaultSpec&) {}
    at::Tensor clipNorm(const FaultMoment& at, const std::vector<at::Tensor>& parameters, at::Tensor) override
    {
        const at::Tensor flat = at::cat(flatGradients(parameters));
        const std::int64_t n = flat.numel();
        return at::linalg_vector_norm(flat.slice(0, at.rank * n / at.world, (at.rank + 1) * n / at.world), 2);
    }
};

class NormCountedTwice final : public Fault
{
public:
    explicit NormCountedTwice(const FaultSpec&) {}
    at::Tensor clipNorm(const FaultMoment& at, const std::vector<at::Tensor>&, at::Tensor norm) override
    {
        return norm * std::sqrt(double(at.world));
    }
};

// D9: one rank leaves the parameters that all ranks hold alike (vectors: norms and biases) out of the norm.
class WrongSet final : public Fault
{
public:
    explicit WrongSet(const FaultSpec& spec) : rank_(int(faultNumber(spec, "rank", -1))) {}
    at::Tensor clipNorm(const FaultMoment& at, const std::vector<at::Tensor>& parameters,
                        at::Tensor norm) override
    {
        if (at.rank != (rank_ < 0 ? at.world - 1 : rank_))
            return norm;
        std::vector<at::Tensor> matrices;
        for (const at::Tensor& p : parameters)
            if (p.dim() > 1)
                matrices.push_back(p);
        const std::vector<at::Tensor> flat = flatGradients(matrices);
        return flat.empty() ? norm : at::linalg_vector_norm(at::cat(flat), 2);
    }

private:
    int rank_;
};

const FaultRegistration clippingRegistrations[] = {
    faultRegistration<ClippedBeforeReduction>(
        {.id = "D3",
         .sentence = "each rank clips its own gradients, and the clipped ones are averaged",
         .title = "clipped before the reduction",
         .signs = "the norm used for clipping is the local one and differs between ranks; the reduced norm "
                  "is below "
                  "the limit, cosine below 1",
         .sources = "LightZero PR #68; Megatron-LM PR #1998; tt-metal #17568",
         .needs = {FaultNeed::Clipping}}),
    faultRegistration<ShardNorm>(
        {.id = "D4",
         .sentence = "each rank clips by the norm of its own 1/W of the gradient",
         .ranksDiverge = true,
         .title = "clipped by the shard's norm",
         .signs = "the norm used differs between ranks; the root of the sum of its squares "
                  "is the gradient norm",
         .sources = "pytorch #72548, #170862; torchtitan #766",
         .needs = {FaultNeed::Clipping, FaultNeed::Several}}),
    faultRegistration<NormCountedTwice>(
        {.id = "D5",
         .sentence = "the squared norm, alike on all ranks, is added up over them",
         .title = "norm counted W times",
         .signs = "the norm used is sqrt(W) times the gradient norm on every rank",
         .sources = "twinkle PR #290; pytorch PR #88955",
         .needs = {FaultNeed::Clipping, FaultNeed::Several}}),
    faultRegistration<WrongSet>(
        {.id = "D9",
         .sentence = "one rank leaves vectors (norms, biases) out of the norm it clips by",
         .parameters = {"rank: the rank that does (the last)"},
         .ranksDiverge = true,
         .title = "clipped by the norm of the wrong set",
         .signs = "on one rank the norm used is below the gradient norm: that of the matrices alone; then "
                  "checksums differ",
         .sources = "DeepSpeed PR #1801",
         .needs = {FaultNeed::Clipping}}),
};

} // namespace

} // namespace lockstep
