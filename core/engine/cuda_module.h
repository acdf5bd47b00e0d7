// The door to lockstep_cuda, the module that holds everything of CUDA and NCCL. It is opened when a run asks
// for it; a CPU run never loads a CUDA library of ours.
#pragma once

#include "core/base/status.h"
#include "core/engine/rank_environment.h"

#include <c10/util/intrusive_ptr.h>

#include <chrono>

namespace c10d {
class Backend;
class Store;
} // namespace c10d

namespace lockstep {

// Errors: the module was not built or does not load, or this machine has no usable GPU; always before any
// NCCL object is made, because such an object without a GPU ends the process.
Status requireCuda();
Result<c10::intrusive_ptr<c10d::Backend>> ncclBackend(const c10::intrusive_ptr<c10d::Store>& store,
                                                      const RankEnvironment& environment,
                                                      std::chrono::milliseconds timeout);

} // namespace lockstep
