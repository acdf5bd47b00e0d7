// Family E of the fault catalogue, randomness: who draws what from which stream.
#include "core/engine/fault.h"

#include <ATen/ATen.h>

#include <cmath>
#include <random>

namespace lockstep {

namespace {

// E4: what atomics do, in a form a CPU can play: each rank scales its gradients by one last bit more or less, from a
// source that no seed controls.
class Nondeterministic final : public Fault
{
public:
    explicit Nondeterministic(const FaultSpec&) {}
    void loss(const FaultMoment&, at::Tensor& loss) override
    {
        loss = loss * (1.0 + (double(source_() % 3) - 1.0) * std::ldexp(1.0, -23));
    }

private:
    std::random_device source_;
};

// E5: each rank draws its masks from its own stream and for its own shapes. Plain DDP does that by itself.
class OwnMasks final : public Fault
{
public:
    explicit OwnMasks(const FaultSpec&) {}
};

class SharedStream final : public Fault
{
public:
    explicit SharedStream(const FaultSpec&) {}
    std::uint64_t streamSeed(const FaultMoment& at, std::uint64_t seed) override
    {
        return seed - std::uint64_t(at.rank);
    }
};

const FaultRegistration randomRegistrations[] = {
    faultRegistration<Nondeterministic>(
        {.id = "E4",
         .sentence = "gradients differ in their last bits from run to run, as with nondeterministic kernels",
         .title = "nondeterministic kernels (benign)",
         .signs = "two runs of the same configuration differ from step 1 on in the local gradient, by 2^-23; "
                  "no twin "
                  "can equal them",
         .sources = "msprobe guide; torchtitan debugging.md"}),
    faultRegistration<OwnMasks>(
        {.id = "E5",
         .sentence =
             "dropout masks come from a stream per rank; plain DDP does so already, the switch only says it",
         .title = "dropout cannot match (benign)",
         .signs = "the loss of step 1 differs from one process with the global batch, and not with dropout "
                  "0; the twin "
                  "is equal in every bit",
         .sources = "torchtitan converging.md; veScale"}),
    faultRegistration<SharedStream>({.id = "E6",
                                     .sentence = "the ranks' generators are seeded without the rank",
                                     .title = "same noise on all ranks",
                                     .signs = "the generator's fingerprint is alike on all ranks at step 0",
                                     .sources = "lingbot-vla-v2 #41; detr #297"}),
};

} // namespace

} // namespace lockstep
