// The reduction of fault E2: gradients travel and are added in bfloat16.
#pragma once

#include <c10/util/intrusive_ptr.h>

namespace c10d {
class ProcessGroup;
class Reducer;
} // namespace c10d

namespace lockstep {

// As torch's bf16_compress_hook: to bfloat16, divided by the world size, all-reduced, back to float32.
void registerBf16Reduction(c10d::Reducer& reducer, const c10::intrusive_ptr<c10d::ProcessGroup>& group);

} // namespace lockstep
