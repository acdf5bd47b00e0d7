// What the module lockstep_cuda offers the worker, behind one C entry point so that the worker links nothing
// of CUDA.
#pragma once

#include "core/engine/tensor_span.h"

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>

namespace c10d {
class Backend;
class Store;
} // namespace c10d

namespace lockstep {

inline constexpr int kCudaModuleVersion = 1;
inline constexpr const char* kCudaModuleEntry = "lockstepCudaModule";

// Sum of squares and fingerprint of a list of tensors that lie on the GPU (fused_measure.h).
struct CudaMeasure {
    double sumOfSquares = 0;
    std::uint64_t fingerprint = 0;
};

struct CudaModule {
    int version;
    // Usable GPUs; 0 without a driver. Never throws.
    int (*deviceCount)();
    // Only with deviceCount() > 0. Throws what NCCL throws.
    c10::intrusive_ptr<c10d::Backend> (*ncclBackend)(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                                     int world, int device,
                                                     std::chrono::milliseconds timeout);
    // `tensors` lie on `device`; runs on the stream given and waits for it.
    CudaMeasure (*measure)(const TensorSpans& tensors, int device, void* stream);
};

} // namespace lockstep
