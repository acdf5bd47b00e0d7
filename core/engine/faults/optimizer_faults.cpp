// Family D of the fault catalogue: optimizer, schedule, clipping, scaling.
#include "core/engine/fault.h"

namespace lockstep {

namespace {

// D1: the learning rate is multiplied by the world size (or by k).
class RateTimesWorld final : public Fault
{
public:
    explicit RateTimesWorld(const FaultSpec& spec) : factor_(faultNumber(spec, "k", 0)) {}
    double learningRate(const FaultMoment& at, double rate) override
    {
        return rate * (factor_ > 0 ? factor_ : double(at.world));
    }

private:
    double factor_;
};

// D2: the schedule advances once per rank instead of once per step.
class SchedulerTimesWorld final : public Fault
{
public:
    explicit SchedulerTimesWorld(const FaultSpec& spec) : factor_(int(faultNumber(spec, "k", 0))) {}
    int schedulerSteps(const FaultMoment& at, int steps) override
    {
        return steps * (factor_ > 0 ? factor_ : at.world);
    }

private:
    int factor_;
};

const FaultRegistration rateTimesWorld(faultEntry<RateTimesWorld>(
    {"D1", "the learning rate is multiplied by the world size", {"k: factor instead of the world size"}}));
const FaultRegistration schedulerTimesWorld(faultEntry<SchedulerTimesWorld>(
    {"D2", "the schedule advances once per rank in every step", {"k: steps instead of the world size"}}));

} // namespace

} // namespace lockstep
