// Times `diff + statistics` of two checkpoints against a plain read of the same bytes with the same threads, in turns.
// Prints one flat JSON object. Used by ckpt_diff.py.
#include "core/ckpt/diff.h"
#include "core/ckpt/open.h"
#include "core/ckpt/parallel.h"
#include "core/ckpt/tensor_bytes.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

using namespace lockstep;

namespace {

double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Everything the diff reads, as mapped ranges.
std::vector<std::span<const std::byte>> ranges(const Checkpoint& checkpoint)
{
    constexpr std::size_t kPart = 8 << 20;
    std::vector<std::span<const std::byte>> parts;
    for (const NamedTensor& named : namedTensors(checkpoint)) {
        const auto bytes = TensorBytes::open(checkpoint, checkpoint.tensors[named.tensor]);
        if (!bytes.ok() || !bytes->contiguous())
            continue;
        for (std::uint64_t at = 0; at < bytes->byteCount(); at += kPart)
            parts.emplace_back(bytes->contiguous() + at,
                               std::min<std::uint64_t>(kPart, bytes->byteCount() - at));
    }
    return parts;
}

std::uint64_t readAll(std::span<const std::byte> bytes)
{
    std::uint64_t lanes[32] = {};
    for (std::size_t i = 0; i + sizeof lanes <= bytes.size(); i += sizeof lanes) {
        std::uint64_t block[32];
        std::memcpy(block, bytes.data() + i, sizeof block);
        for (int k = 0; k < 32; ++k)
            lanes[k] ^= block[k];
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t lane : lanes)
        sum ^= lane;
    return sum;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 3)
        return 2;
    const auto a = openCheckpoint(argv[1]), b = openCheckpoint(argv[2]);
    if (!a || !b)
        return 3;
    std::vector<std::span<const std::byte>> parts = ranges(*a);
    for (const auto part : ranges(*b))
        parts.push_back(part);
    std::uint64_t bytes = 0;
    for (const auto part : parts)
        bytes += part.size();
    double readBest = 1e9, diffBest = 1e9;
    std::uint64_t differing = 0;
    std::atomic<std::uint64_t> sink{0};
    for (int round = 0; round < 7; ++round) {
        double start = now();
        parallelFor(parts.size(), 0, [&](std::size_t i) { sink ^= readAll(parts[i]); });
        readBest = std::min(readBest, now() - start);
        start = now();
        const CheckpointDiff diff = diffCheckpoints(*a, *b);
        diffBest = std::min(diffBest, now() - start);
        differing = diff.keys.front().elements.valuesDiffer;
    }
    std::printf("{\"bytes\":%llu,\"read_s\":%.6f,\"diff_s\":%.6f,\"differing\":%llu,\"sink\":%llu}\n",
                static_cast<unsigned long long>(bytes), readBest, diffBest,
                static_cast<unsigned long long>(differing), static_cast<unsigned long long>(sink.load() & 1));
}
