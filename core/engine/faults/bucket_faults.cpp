// Family C of the fault catalogue: parameters that the wrapper does not know of, or meets in one micro-batch only.
#include "core/engine/fault.h"

namespace lockstep {

namespace {

// C3 and C10: some parameters are trained, but are in no bucket.
template<bool module>
class OutsideBuckets : public Fault
{
public:
    explicit OutsideBuckets(const FaultSpec& spec) : spec_(spec) {}
    bool inBuckets(const RunConfig&, const ParameterPlace& place) override
    {
        return !namedBy(spec_, place, module);
    }

private:
    FaultSpec spec_;
};
using Replaced = OutsideBuckets<false>;
using Adapter = OutsideBuckets<true>;

// C4: the wrapper leaves out what is frozen when it is made, and is not made again.
class UnfrozenLater final : public Fault
{
public:
    explicit UnfrozenLater(const FaultSpec&) {}
    bool inBuckets(const RunConfig& config, const ParameterPlace& place) override
    {
        return !place.name.starts_with(config.freeze);
    }
};

// C5: a branch that the last micro-batch does not take, so that what the earlier ones have accumulated stays local. The
// Reducer of this version of torch remembers the earlier ones; these parameters are in no bucket instead.
class UnusedInLast final : public Adapter
{
public:
    explicit UnusedInLast(const FaultSpec& spec) : Adapter(spec), spec_(spec) {}
    bool trains(const FaultMoment& at, const ParameterPlace& place) override
    {
        return at.micro + 1 < at.micros || at.micros == 1 || !namedBy(spec_, place, true);
    }

private:
    FaultSpec spec_;
};

const std::string kModule = "param: start of the names of the parameters (those of the first module)";

const FaultRegistration bucketRegistrations[] = {
    faultRegistration<Replaced>(
        {.id = "C3",
         .sentence = "a parameter is replaced after the wrapper was made",
         .parameters = {"param: start of its name (the first parameter)"},
         .ranksDiverge = true,
         .title = "parameter replaced after the wrap",
         .signs = "the checksum of this one parameter differs between ranks after step 1",
         .sources = "pytorch #12603; DDP documentation"}),
    faultRegistration<UnfrozenLater>(
        {.id = "C4",
         .sentence = "parameters that were frozen when the wrapper was made are trained from a later step on",
         .parameters = {},
         .ranksDiverge = true,
         .title = "unfrozen after the wrap",
         .signs = "checksums of these parameters differ between ranks from the event \"unfreeze\" on",
         .sources = "Lightning #20340",
         .needs = {FaultNeed::Freeze}}),
    faultRegistration<UnusedInLast>(
        {.id = "C5",
         .sentence =
             "parameters that the last micro-batch of a window does not use keep their local gradients",
         .parameters = {kModule},
         .ranksDiverge = true,
         .title = "unused in the last micro-batch",
         .signs = "checksums of these parameters differ between ranks after the first accumulated step",
         .sources = "pytorch #69031, #112152; composer #9",
         .needs = {FaultNeed::Accumulation, FaultNeed::FindUnused}}),
    faultRegistration<Adapter>(
        {.id = "C10",
         .sentence = "parameters of an adapter are in the optimizer, but not in the wrapper",
         .parameters = {kModule},
         .ranksDiverge = true,
         .title = "parameters outside DDP",
         .signs = "checksums of these parameters differ between ranks after step 1",
         .sources = "sd-scripts PR #989"}),
};

} // namespace

} // namespace lockstep
