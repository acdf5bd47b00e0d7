// Faults of families B and D that live in the window of accumulated micro-batches.
#include "core/engine/fault.h"

#include <ATen/ATen.h>

namespace lockstep {

namespace {

// B7: DDP decides in the forward whether it will synchronise, and the flag is set between forward and backward. So the
// first micro-batch still sees the flag of the boundary before it, and the last one sees that of its predecessor.
class FlagAfterForward final : public Fault
{
public:
    explicit FlagAfterForward(const FaultSpec&) {}
    Pass pass(const FaultMoment& at, Pass) override
    {
        return at.micro == 0 ? Pass::Synchronised : Pass::Local;
    }
};

// B12: a collective over a group of one adds its own input to itself: what has been accumulated doubles each time.
class DoubledAlone final : public Fault
{
public:
    explicit DoubledAlone(const FaultSpec&) {}
    void accumulated(const FaultMoment&, const std::vector<at::Tensor>& parameters) override
    {
        doubleAll(parameters);
    }
    void reduced(const FaultMoment&, const std::vector<at::Tensor>& parameters) override
    {
        doubleAll(parameters); // a factor of two commutes with the reduction in every bit
    }

private:
    static void doubleAll(const std::vector<at::Tensor>& parameters)
    {
        for (const at::Tensor& p : parameters)
            if (p.grad().defined())
                p.mutable_grad().mul_(2);
    }
};

// D10: the partition of one rank (the first 1/W of all parameters) is updated with the last micro-batch alone.
class LastMicroBatchOnly final : public Fault
{
public:
    explicit LastMicroBatchOnly(const FaultSpec&) {}
    void accumulated(const FaultMoment& at, const std::vector<at::Tensor>& parameters) override
    {
        std::int64_t all = 0;
        for (const at::Tensor& p : parameters)
            all += p.numel();
        std::int64_t before = 0;
        for (const at::Tensor& p : parameters) {
            if (before * at.world < all && p.grad().defined())
                p.mutable_grad().zero_();
            before += p.numel();
        }
    }
};

const FaultRegistration accumulationRegistrations[] = {
    faultRegistration<FlagAfterForward>(
        {.id = "B7",
         .sentence =
             "the flag for synchronising is set after the forward, so the first micro-batch of a window is "
             "reduced and the others stay local",
         .ranksDiverge = true,
         .title = "sync flag set for the backward only",
         .signs =
             "parameter checksums differ between ranks after the first step, one reduction per step as ever",
         .sources = "build-nanogpt PR #30",
         .needs = {FaultNeed::Accumulation}}),
    faultRegistration<DoubledAlone>(
        {.id = "B12",
         .sentence =
             "each micro-batch doubles what has been accumulated (a buffer reduced in a group of one)",
         .title = "doubled in a group of one",
         .signs =
             "gradient norm 2^K times too large for K equal micro-batches; cosine below 1 if they differ",
         .sources = "Megatron-LM #6660"}),
    faultRegistration<LastMicroBatchOnly>(
        {.id = "D10",
         .sentence = "the first rank's share of the parameters is updated with the last micro-batch only",
         .title = "ZeRO partition under accumulation",
         .signs = "checksums equal on all ranks; only these parameters' reduced gradients differ from the "
                  "reference",
         .sources = "DeepSpeed #1488, #966",
         .needs = {FaultNeed::Accumulation}}),
};

} // namespace

} // namespace lockstep
