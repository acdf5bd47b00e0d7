// Family D of the fault catalogue, optimizer and schedule.
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

// D6: the optimizer was made before the parameters were replaced; the ones it holds get no gradients.
class StaleParameters final : public Fault
{
public:
    explicit StaleParameters(const FaultSpec& spec) : firstStep_(faultNumber(spec, "step", 1)) {}
    bool updates(const FaultMoment& at) override { return double(at.step) < firstStep_; }

private:
    double firstStep_;
};

// D7: the optimizer was made again without its groups.
class GroupsLost final : public Fault
{
public:
    explicit GroupsLost(const FaultSpec&) {}
    bool decays(const ParameterPlace& place) override { return place.dimensions < 2; }
};

// D8: one rank finds inf in what it looks at, and does not tell the others. It leaves out the step and halves its scale.
class InfNotShared final : public Fault
{
public:
    explicit InfNotShared(const FaultSpec& spec)
        : rank_(int(faultNumber(spec, "rank", -1))), step_(faultNumber(spec, "step", 2))
    {
    }
    bool foundInf(const FaultMoment& at, bool found) override
    {
        return found || (double(at.step) == step_ && at.rank == (rank_ < 0 ? at.world - 1 : rank_));
    }

private:
    int rank_;
    double step_;
};

const FaultRegistration optimizerRegistrations[] = {
    faultRegistration<RateTimesWorld>(
        {.id = "D1",
         .sentence = "the learning rate is multiplied by the world size",
         .parameters = {"k: factor instead of the world size"},
         .title = "learning rate scaled",
         .signs = "gradients of step 1 are equal; learning rate and update are k times "
                  "as large",
         .sources = "Lightning #3706; moco #98; mmdetection #815"}),
    faultRegistration<SchedulerTimesWorld>(
        {.id = "D2",
         .sentence = "the schedule advances once per rank in every step",
         .parameters = {"k: advances instead of the world size"},
         .title = "schedule times W",
         .signs = "the learning rate of step t is the reference's of step W (t - 1) + 1",
         .sources = "accelerate #2926, #1398, #2142; diffusers #3954; transformers PR #24088",
         .needs = {FaultNeed::Schedule}}),
    faultRegistration<StaleParameters>(
        {.id = "D6",
         .sentence = "the optimizer holds parameters that are no longer the model's",
         .parameters = {"step: first step that has it (1)"},
         .title = "stale parameters in the optimizer",
         .signs = "gradients are not zero, the update is; the optimizer's counter stands still",
         .sources = "accelerate #2665, #3256; pytorch #149205"}),
    faultRegistration<InfNotShared>(
        {.id = "D8",
         .sentence =
             "one rank finds inf in its gradients, does not share that, and leaves out the step alone",
         .parameters = {"rank: the rank that finds it (the last)", "step: the step in which it does (2)"},
         .ranksDiverge = true,
         .title = "scaler differs",
         .signs = "found_inf and step_skipped on one rank only; from the next step on its scale is half the "
                  "others'",
         .sources = "pytorch #136009, PR #115710",
         .needs = {FaultNeed::Scaler, FaultNeed::Several}}),
    faultRegistration<GroupsLost>(
        {.id = "D7",
         .sentence = "the optimizer was made again without its groups: weight matrices no longer decay",
         .title = "parameter groups lost",
         .signs =
             "gradients of step 1 are equal; the updates of matrices differ by rate times decay times weight",
         .sources = "composer #3493",
         .needs = {FaultNeed::Decay}}),
};

} // namespace

} // namespace lockstep
