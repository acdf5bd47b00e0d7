#include "core/engine/ordered_hook.h"

#include "core/engine/reduction_order.h"

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <memory>

namespace lockstep {

namespace {

using Group = c10::intrusive_ptr<c10d::ProcessGroup>;

class OrderedReduction final : public c10d::CppCommHookInterface<Group>
{
public:
    using CppCommHookInterface::CppCommHookInterface;

    c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override
    {
        at::Tensor own = bucket.getBufferRef().div_(state_->getSize());
        std::vector<std::vector<at::Tensor>> all(1);
        for (int r = 0; r < state_->getSize(); ++r)
            all[0].push_back(at::empty_like(own));
        std::vector<at::Tensor> in{own};
        state_->allgather(all, in)->wait();
        auto done = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
        done->markCompleted(c10::IValue(std::vector<at::Tensor>{rankOrderSum(all[0])}));
        return done;
    }
};

} // namespace

void registerOrderedReduction(c10d::Reducer& reducer, const Group& group)
{
    reducer.register_comm_hook(std::make_unique<OrderedReduction>(group));
}

} // namespace lockstep
