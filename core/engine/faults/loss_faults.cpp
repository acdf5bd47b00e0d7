// Family B of the fault catalogue: how losses are formed, scaled and reduced.
#include "core/engine/fault.h"

#include <ATen/ATen.h>

namespace lockstep {

namespace {

// B2: the mean loss is multiplied by the world size (or by k), although DDP already averages.
class LossTimesWorld final : public Fault
{
public:
    explicit LossTimesWorld(const FaultSpec& spec)
        : factor_(faultNumber(spec, "k", 0)), firstStep_(faultNumber(spec, "step", 1))
    {
    }
    void loss(const FaultMoment& at, at::Tensor& loss) override
    {
        if (double(at.step) >= firstStep_)
            loss = loss * (factor_ > 0 ? factor_ : at.world);
    }

private:
    double factor_;
    double firstStep_;
};

// B6: the losses of accumulated micro-batches are not divided by their number.
class AccumulationNotDivided final : public Fault
{
public:
    explicit AccumulationNotDivided(const FaultSpec&) {}
    bool divideByAccumulation() override { return false; }
};

const FaultRegistration lossTimesWorld(faultEntry<LossTimesWorld>({"B2",
                                                                   "the loss is multiplied by the world size",
                                                                   {"k: factor instead of the world size",
                                                                    "step: first step that has it (1)"}}));
const FaultRegistration accumulationNotDivided(
    faultEntry<AccumulationNotDivided>({"B6", "accumulated losses are not divided by their number", {}}));

} // namespace

} // namespace lockstep
