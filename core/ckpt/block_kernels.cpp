#include "core/ckpt/block_kernels.h"

namespace lockstep::kernels {

const KernelSet& fastKernels()
{
#if defined(__x86_64__)
    static const KernelSet& chosen = [&]() -> const KernelSet& {
        static const KernelSet none;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
            return kAvx512Kernels;
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
            return kAvx2Kernels;
        return none;
    }();
    return chosen;
#else
    static const KernelSet none;
    return none;
#endif
}

} // namespace lockstep::kernels
