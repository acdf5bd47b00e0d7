#include "core/engine/faults/bf16_reduction.h"

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <memory>

namespace lockstep {

namespace {

using Group = c10::intrusive_ptr<c10d::ProcessGroup>;

class Bf16Reduction final : public c10d::CppCommHookInterface<Group>
{
public:
    using CppCommHookInterface::CppCommHookInterface;

    c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override
    {
        std::vector<at::Tensor> small{bucket.getBufferRef().to(at::kBFloat16).div_(state_->getSize())};
        state_->allreduce(small)->wait();
        auto done = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
        done->markCompleted(c10::IValue(std::vector<at::Tensor>{small[0].to(at::kFloat)}));
        return done;
    }
};

} // namespace

void registerBf16Reduction(c10d::Reducer& reducer, const Group& group)
{
    reducer.register_comm_hook(std::make_unique<Bf16Reduction>(group));
}

} // namespace lockstep
