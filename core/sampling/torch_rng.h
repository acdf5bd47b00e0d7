// torch's CPU generator and the draws that decide the order of data, without torch: the dashboard and the
// command line check samplers of any world, the engine trains with the same code. Judge: Python torch 2.15.0
// (tests/core/sampling).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep {

// mt19937 as at::mt19937 seeds and steps it (Matsumoto and Nishimura 1998; seeded with the low 32 bits of
// `seed`).
class TorchRng
{
public:
    explicit TorchRng(std::uint64_t seed);
    std::uint32_t random();   // torch: CPUGeneratorImpl::random
    std::uint64_t random64(); // torch: CPUGeneratorImpl::random64 (high word first)
    // The next `count` values of random(), faster than one by one.
    void generate(std::uint32_t* out, std::size_t count);

private:
    void refill();
    std::array<std::uint32_t, 624> state_;
    int next_ = 624;
};

// torch.randperm(n, generator=g).
std::vector<std::int64_t> torchRandperm(std::int64_t n, TorchRng& generator);
// Its first `count` entries without the rest: previews of orders too large to hold. Memory goes with `count`, and so does time;
// for n from which torch draws 64 bits on (2^32 / 20, about 214 million), time goes with n.
std::vector<std::int64_t> torchRandpermHead(std::int64_t n, std::int64_t count, TorchRng& generator);
// The swaps of randperm on values that are already in place: `values` = 0..n-1 gives torch.randperm(n). The
// 32-bit form needs half the memory; both give the same order. Targets are known ahead and prefetched: about
// 10 ns per element in arrays far beyond the caches.
void torchShuffle(std::span<std::int64_t> values, TorchRng& generator);
void torchShuffle(std::span<std::uint32_t> values, TorchRng& generator);

// torch.empty((), dtype=torch.int64).random_(generator=g): how DataLoader draws its base seed and
// RandomSampler the seed of its private generator.
std::int64_t torchDrawInt64(TorchRng& generator);
// torch.randint(high, (count,), generator=g) appended to `out`; high >= 1.
void torchRandint(std::int64_t high, std::int64_t count, TorchRng& generator, std::vector<std::int64_t>& out);

} // namespace lockstep
