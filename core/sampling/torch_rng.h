// torch's CPU generator and the draws that decide the order of data, without torch: the dashboard and the
// command line check samplers of any world, the engine trains with the same code. Judge: Python torch 2.15.0
// (tests/core/sampling).
#pragma once

#include <array>
#include <cstdint>
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

private:
    void refill();
    std::array<std::uint32_t, 624> state_;
    int next_ = 624;
};

// torch.randperm(n, generator=g).
std::vector<std::int64_t> torchRandperm(std::int64_t n, TorchRng& generator);

} // namespace lockstep
