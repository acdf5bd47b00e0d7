// Family A of the fault catalogue: which rank sees which samples.
#include "core/engine/fault.h"

namespace lockstep {

namespace {

// A3: set_epoch is never called, so every epoch has the order of epoch 0.
class NoSetEpoch final : public Fault
{
public:
    explicit NoSetEpoch(const FaultSpec&) {}
    void order(const FaultMoment&, DataOrderSpec& spec) override { spec.sampler.epoch = 0; }
};

const FaultRegistration noSetEpoch(faultEntry<NoSetEpoch>({"A3", "set_epoch is never called", {}}));

} // namespace

} // namespace lockstep
