// lockstep_cuda: the NCCL process group and the GPU measurement, opened by the worker with dlopen.
#include "core/engine/cuda/fused_measure.h"
#include "core/engine/cuda/module_interface.h"

#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/distributed/c10d/nccl2/ProcessGroupNCCL.hpp>

#include <vector>

namespace lockstep {

namespace {

int deviceCount()
{
    return int(c10::cuda::device_count()); // 0 without a driver
}

// The class that Python's backend "nccl" means since torch 2.15. Binding the device creates the communicator.
c10::intrusive_ptr<c10d::Backend> makeNccl(const c10::intrusive_ptr<c10d::Store>& store, int rank, int world,
                                           int device, std::chrono::milliseconds timeout)
{
    using Nccl = c10d::nccl2::ProcessGroupNCCL;
    auto options = Nccl::Options::create();
    options->timeout = timeout;
    c10::cuda::set_device(c10::DeviceIndex(device));
    auto backend = c10::make_intrusive<Nccl>(store, rank, world, options);
    backend->setBoundDeviceId(at::Device(at::kCUDA, c10::DeviceIndex(device)));
    return backend;
}

CudaMeasure measure(const TensorSpans& tensors, int device, void* stream)
{
    c10::cuda::set_device(c10::DeviceIndex(device));
    std::vector<DeviceTensor> list;
    for (const TensorSpan& t : tensors)
        list.push_back({t.data, t.count, t.elementSize, t.isFloat});
    const FusedMeasure result = fusedMeasure(list.data(), list.size(), stream);
    TORCH_CHECK(result.error == 0, "the fused measurement failed with CUDA error ", result.error);
    return {result.sumOfSquares, result.fingerprint};
}

constexpr CudaModule kModule = {kCudaModuleVersion, deviceCount, makeNccl, measure};

} // namespace

} // namespace lockstep

extern "C" __attribute__((visibility("default"))) const lockstep::CudaModule* lockstepCudaModule()
{
    return &lockstep::kModule;
}
