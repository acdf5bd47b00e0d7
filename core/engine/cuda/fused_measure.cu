#include "core/engine/cuda/fused_measure.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

namespace lockstep {

namespace {

constexpr int kThreads = 256;

// A piece of one tensor; `first` is the place of its first element in the numbering of the whole list.
struct Chunk {
    const void* data;
    unsigned long long first;
    unsigned int count;
    unsigned int elementSize;
    bool isFloat;
};

// fingerprintMix of core/base/fingerprint.h.
__device__ unsigned long long mix(unsigned long long index, unsigned long long bits)
{
    unsigned long long z = bits + (index + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

__device__ unsigned long long bitsAt(const Chunk& chunk, unsigned int i)
{
    switch (chunk.elementSize) {
    case 1:
        return static_cast<const unsigned char*>(chunk.data)[i];
    case 2:
        return static_cast<const unsigned short*>(chunk.data)[i];
    case 4:
        return static_cast<const unsigned int*>(chunk.data)[i];
    default:
        return static_cast<const unsigned long long*>(chunk.data)[i];
    }
}

// One block per chunk. Thread t takes elements t, t + 256, ...; then a tree over the threads.
__global__ void measureChunks(const Chunk* chunks, double* squares, unsigned long long* prints)
{
    __shared__ double square[kThreads];
    __shared__ unsigned long long print[kThreads];
    const Chunk chunk = chunks[blockIdx.x];
    double s = 0;
    unsigned long long p = 0;
    for (unsigned int i = threadIdx.x; i < chunk.count; i += kThreads) {
        const unsigned long long bits = bitsAt(chunk, i);
        p += mix(chunk.first + i, bits);
        if (chunk.isFloat) {
            const double v = __uint_as_float(static_cast<unsigned int>(bits));
            s = __dadd_rn(s, __dmul_rn(v, v));
        }
    }
    square[threadIdx.x] = s;
    print[threadIdx.x] = p;
    for (int half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            square[threadIdx.x] = __dadd_rn(square[threadIdx.x], square[threadIdx.x + half]);
            print[threadIdx.x] += print[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0) {
        squares[blockIdx.x] = square[0];
        prints[blockIdx.x] = print[0];
    }
}

std::vector<Chunk> cut(const DeviceTensor* tensors, std::size_t count)
{
    std::vector<Chunk> chunks;
    unsigned long long first = 0;
    for (std::size_t t = 0; t < count; ++t) {
        const DeviceTensor& tensor = tensors[t];
        for (std::size_t from = 0; from < tensor.count; from += kChunk) {
            const std::size_t n = std::min(kChunk, tensor.count - from);
            chunks.push_back({static_cast<const char*>(tensor.data) + from * tensor.elementSize, first + from,
                              static_cast<unsigned int>(n), tensor.elementSize, tensor.isFloat});
        }
        first += tensor.count;
    }
    return chunks;
}

// Device memory of one measurement, freed in stream order.
class Scratch
{
public:
    Scratch(std::size_t bytes, cudaStream_t stream) : stream_(stream)
    {
        error = cudaMallocAsync(&memory_, bytes, stream);
    }
    ~Scratch()
    {
        if (memory_)
            cudaFreeAsync(memory_, stream_);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    char* bytes() const { return static_cast<char*>(memory_); }

    cudaError_t error;

private:
    void* memory_ = nullptr;
    cudaStream_t stream_;
};

} // namespace

FusedMeasure fusedMeasure(const DeviceTensor* tensors, std::size_t count, void* streamHandle)
{
    FusedMeasure result;
    const auto stream = static_cast<cudaStream_t>(streamHandle);
    const std::vector<Chunk> chunks = cut(tensors, count);
    const std::size_t n = chunks.size();
    if (n == 0)
        return result;
    std::vector<double> squares(n);
    std::vector<unsigned long long> prints(n);
    const Scratch scratch(n * (sizeof(Chunk) + sizeof(double) + sizeof(unsigned long long)), stream);
    if (scratch.error != cudaSuccess)
        return {0, 0, scratch.error};
    auto* deviceChunks = reinterpret_cast<Chunk*>(scratch.bytes());
    auto* deviceSquares = reinterpret_cast<double*>(deviceChunks + n);
    auto* devicePrints = reinterpret_cast<unsigned long long*>(deviceSquares + n);
    cudaMemcpyAsync(deviceChunks, chunks.data(), n * sizeof(Chunk), cudaMemcpyHostToDevice, stream);
    measureChunks<<<static_cast<unsigned int>(n), kThreads, 0, stream>>>(deviceChunks, deviceSquares, devicePrints);
    cudaMemcpyAsync(squares.data(), deviceSquares, n * sizeof(double), cudaMemcpyDeviceToHost, stream);
    cudaMemcpyAsync(prints.data(), devicePrints, n * sizeof(unsigned long long), cudaMemcpyDeviceToHost, stream);
    result.error = cudaStreamSynchronize(stream);
    if (result.error == cudaSuccess)
        result.error = cudaGetLastError();
    for (std::size_t i = 0; i < n; ++i) {
        result.sumOfSquares += squares[i];
        result.fingerprint += prints[i];
    }
    return result;
}

} // namespace lockstep
