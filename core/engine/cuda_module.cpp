#include "core/engine/cuda_module.h"

#include "core/engine/cuda/module_interface.h"

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <cstdlib>
#include <filesystem>

#include <dlfcn.h>

namespace lockstep {

namespace {

constexpr const char* kFile = "lockstep_cuda.so";

// Beside the worker (build tree), or in the library folder of an installation; LOCKSTEP_CUDA_MODULE names
// another file.
std::string modulePath()
{
    if (const char* named = std::getenv("LOCKSTEP_CUDA_MODULE"))
        return named;
    std::error_code ignored;
    const auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
    for (const char* place : {".", "../lib", "../lib/lockstep", "../../lib/lockstep"})
        if (std::filesystem::exists(folder / place / kFile, ignored))
            return (folder / place / kFile).string();
    return kFile;
}

Error notAvailable(const std::string& why, const std::string& fix)
{
    return {ErrorKind::Environment, "--device cuda is not possible here", why, fix};
}

// Loaded once and never closed: torch's CUDA libraries do not survive that.
Result<const CudaModule*> loadModule()
{
    static void* const handle = ::dlopen(modulePath().c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!handle) {
        const char* why = ::dlerror();
        return notAvailable(
            std::string("the module lockstep_cuda does not load") +
                (why ? std::string(" (") + why + ")" : ""),
            "Build Lockstep where a CUDA toolkit and NCCL are installed, or use --device cpu");
    }
    const auto entry = reinterpret_cast<const CudaModule* (*)()>(::dlsym(handle, kCudaModuleEntry));
    const CudaModule* module = entry ? entry() : nullptr;
    if (!module || module->version != kCudaModuleVersion)
        return notAvailable("lockstep_cuda belongs to another release", "Build worker and module together");
    return module;
}

} // namespace

Status requireCuda()
{
    const Result<const CudaModule*> module = loadModule();
    if (!module)
        return module.error();
    if ((*module)->deviceCount() < 1)
        return notAvailable("this machine has no GPU that CUDA can use", "Use --device cpu");
    return {};
}

Result<c10::intrusive_ptr<c10d::Backend>> ncclBackend(const c10::intrusive_ptr<c10d::Store>& store,
                                                      const RankEnvironment& e,
                                                      std::chrono::milliseconds timeout)
{
    const Status usable = requireCuda();
    if (!usable)
        return usable.error();
    const CudaModule* module = *loadModule();
    // torchrun --virtual-local-rank shows one GPU to every rank.
    const int device = e.localRank % module->deviceCount();
    return module->ncclBackend(store, e.rank, e.world, device, timeout);
}

} // namespace lockstep
