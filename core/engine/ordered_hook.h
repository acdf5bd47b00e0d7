// The ordered reduction: all-gather, then add in rank order. Its order is ours whatever the backend, so the
// twin can reproduce it where a collective's own order is unknown (NCCL). Costs W times the traffic.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <vector>

namespace c10d {
class ProcessGroup;
class Reducer;
} // namespace c10d

namespace lockstep {

// As a comm hook: the Reducer then no longer divides, the hook divides by the world size before it gathers.
void registerOrderedReduction(c10d::Reducer& reducer, const c10::intrusive_ptr<c10d::ProcessGroup>& group);

} // namespace lockstep
