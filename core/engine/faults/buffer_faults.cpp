// Buffers (BatchNorm statistics) of families C and E.
#include "core/engine/fault.h"

#include <ATen/ATen.h>

namespace lockstep {

namespace {

// C8: BatchNorm normalises with the statistics of each rank's own batch. Plain DDP does that by itself.
class LocalStatistics final : public Fault
{
public:
    explicit LocalStatistics(const FaultSpec&) {}
};

class BuffersDiverge final : public Fault
{
public:
    explicit BuffersDiverge(const FaultSpec&) {}
    bool broadcastBuffers(const FaultMoment&) override { return false; }
};

// E3: buffers are kept in bfloat16 (rounded to it; their tensors stay float32).
class BuffersCast final : public Fault
{
public:
    explicit BuffersCast(const FaultSpec&) {}
    void leavePass(const FaultMoment&, const std::vector<at::Tensor>&,
                   const std::vector<at::Tensor>& buffers) override
    {
        for (const at::Tensor& b : buffers)
            if (b.is_floating_point())
                b.copy_(b.to(at::kBFloat16));
    }
};

const FaultRegistration bufferRegistrations[] = {
    faultRegistration<LocalStatistics>(
        {.id = "C8",
         .sentence =
             "BatchNorm uses each rank's own batch; plain DDP does so already, the switch only says it",
         .title = "BatchNorm not synchronised",
         .signs = "the loss of step 1 differs from one process with the global batch; the twin is equal in "
                  "every bit",
         .sources = "pytorch #49794, PR #14267",
         .needs = {FaultNeed::Buffers}}),
    faultRegistration<BuffersDiverge>(
        {.id = "C9",
         .sentence = "buffers are not broadcast before a forward",
         .title = "buffers diverge",
         .signs =
             "no broadcast of buffers; from step 2 on those of ranks other than 0 are not the reference's, "
             "parameters are",
         .sources = "timm #110; fvcore #152; detectron2 #5409",
         .needs = {FaultNeed::Buffers}}),
    faultRegistration<BuffersCast>(
        {.id = "E3",
         .sentence = "buffers are rounded to bfloat16 after every pass",
         .title = "buffers cast",
         .signs = "buffers differ from the reference from step 1 on, by 2^-8 at most in "
                  "each pass; parameters are equal",
         .sources = "pytorch #102731, #91879",
         .needs = {FaultNeed::Buffers}}),
};

} // namespace

} // namespace lockstep
