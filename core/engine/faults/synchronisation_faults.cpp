// Family C of the fault catalogue: what is, or is not, kept equal between ranks.
#include "core/engine/fault.h"

namespace lockstep {

namespace {

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

// C9: buffers (BatchNorm statistics) are not broadcast before a forward.
class BuffersDiverge final : public Fault
{
public:
    explicit BuffersDiverge(const FaultSpec&) {}
    bool broadcastBuffers(const FaultMoment&) override { return false; }
};

const FaultRegistration initialWeightsDiffer(
    faultEntry<InitialWeightsDiffer>({"C7", "ranks start from different weights", {}, true}));
const FaultRegistration buffersDiverge(faultEntry<BuffersDiverge>({"C9", "buffers are not broadcast", {}}));

} // namespace

} // namespace lockstep
