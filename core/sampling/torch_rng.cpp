#include "core/sampling/torch_rng.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace lockstep {

namespace {

constexpr int kStateSize = 624;
constexpr int kShift = 397;

std::uint32_t twist(std::uint32_t high, std::uint32_t low)
{
    const std::uint32_t mixed = (high & 0x80000000u) | (low & 0x7fffffffu);
    return (mixed >> 1) ^ ((0u - (low & 1u)) & 0x9908b0dfu);
}

std::uint32_t temper(std::uint32_t y)
{
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

// From here on randperm draws 64 bits per swap (at::native::randperm_cpu: n < UINT32_MAX / 20 keeps the
// 32-bit form).
constexpr std::uint64_t kWideRandperm = 0xffffffffull / 20;
// From here on randint draws 64 bits (at::native::templates::cpu::random_from_to).
constexpr std::uint64_t kWideRandint = 1ull << 28;

constexpr std::size_t kBlock = 1024;  // draws made ahead
constexpr std::size_t kPrefetch = 48; // swaps between asking for a cache line and using it

// targets[k] = first + k + draws[k] % (size - first - k). Unlike an integer division, one in float64
// vectorises, and it is exact here: two 32-bit numbers whose quotient is not whole miss the next whole number
// by more than float64 rounds. The modulus is at least 2, so the quotient fits the signed conversion that the
// CPU has an instruction for.
void narrowTargets(const std::uint32_t* draws, std::size_t count, std::uint64_t first, std::uint64_t size,
                   std::uint32_t* targets)
{
    const auto remaining = std::int32_t(size - first);
    for (std::size_t k = 0; k < count; ++k) {
        const std::int32_t modulus = remaining - std::int32_t(k);
        const auto quotient = std::int32_t(double(draws[k]) / double(modulus));
        const std::uint32_t rest = draws[k] - std::uint32_t(quotient) * std::uint32_t(modulus);
        targets[k] = std::uint32_t(first) + std::uint32_t(k) + rest;
    }
}

template<typename T>
void shuffleNarrow(std::span<T> values, TorchRng& generator)
{
    std::uint32_t draws[kBlock];
    std::uint32_t targets[kBlock];
    const std::size_t swaps = values.size() - 1;
    for (std::size_t first = 0; first < swaps; first += kBlock) {
        const std::size_t count = std::min(kBlock, swaps - first);
        generator.generate(draws, count);
        narrowTargets(draws, count, first, values.size(), targets);
        for (std::size_t k = 0; k < std::min(kPrefetch, count); ++k)
            __builtin_prefetch(&values[targets[k]], 1);
        for (std::size_t k = 0; k < count; ++k) {
            if (k + kPrefetch < count)
                __builtin_prefetch(&values[targets[k + kPrefetch]], 1);
            std::swap(values[first + k], values[targets[k]]);
        }
    }
}

// The inside-out shuffle that randperm uses for large n: entry i moves to a place below it or stays.
template<typename T>
void shuffleWide(std::span<T> values, TorchRng& generator)
{
    std::uint64_t targets[kBlock];
    for (std::size_t first = 0; first < values.size(); first += kBlock) {
        const std::size_t count = std::min(kBlock, values.size() - first);
        for (std::size_t k = 0; k < count; ++k) {
            targets[k] = generator.random64() % (first + k + 1);
            __builtin_prefetch(&values[targets[k]], 1);
        }
        for (std::size_t k = 0; k < count; ++k)
            std::swap(values[first + k], values[targets[k]]);
    }
}

template<typename T>
void shuffle(std::span<T> values, TorchRng& generator)
{
    if (values.size() >= kWideRandperm)
        shuffleWide(values, generator);
    else if (values.size() > 1)
        shuffleNarrow(values, generator);
}

} // namespace

TorchRng::TorchRng(std::uint64_t seed)
{
    state_[0] = std::uint32_t(seed);
    for (std::uint32_t j = 1; j < kStateSize; ++j)
        state_[j] = 1812433253u * (state_[j - 1] ^ (state_[j - 1] >> 30)) + j;
}

void TorchRng::refill()
{
    std::uint32_t* s = state_.data();
    for (int i = 0; i < kStateSize - kShift; ++i)
        s[i] = s[i + kShift] ^ twist(s[i], s[i + 1]);
    for (int i = kStateSize - kShift; i < kStateSize - 1; ++i)
        s[i] = s[i + kShift - kStateSize] ^ twist(s[i], s[i + 1]);
    s[kStateSize - 1] = s[kShift - 1] ^ twist(s[kStateSize - 1], s[0]);
    next_ = 0;
}

std::uint32_t TorchRng::random()
{
    if (next_ == kStateSize)
        refill();
    return temper(state_[next_++]);
}

std::uint64_t TorchRng::random64()
{
    const std::uint64_t high = random();
    return high << 32 | random();
}

void TorchRng::generate(std::uint32_t* out, std::size_t count)
{
    while (count > 0) {
        if (next_ == kStateSize)
            refill();
        const std::size_t part = std::min(count, std::size_t(kStateSize - next_));
        const std::uint32_t* from = state_.data() + next_;
        for (std::size_t k = 0; k < part; ++k)
            out[k] = temper(from[k]);
        next_ += int(part);
        out += part;
        count -= part;
    }
}

std::vector<std::int64_t> torchRandperm(std::int64_t n, TorchRng& generator)
{
    std::vector<std::int64_t> values(std::size_t(std::max<std::int64_t>(n, 0)));
    std::iota(values.begin(), values.end(), 0);
    torchShuffle(std::span(values), generator);
    return values;
}

std::vector<std::int64_t> torchRandpermHead(std::int64_t n, std::int64_t count, TorchRng& generator)
{
    count = std::clamp<std::int64_t>(count, 0, n);
    std::vector<std::int64_t> head;
    if (std::uint64_t(n) >= kWideRandperm) {
        head.resize(std::size_t(count));
        for (std::int64_t i = 0; i < n; ++i) {
            const std::uint64_t target = generator.random64() % std::uint64_t(i + 1);
            if (i < count)
                head[std::size_t(i)] = head[std::size_t(target)];
            if (target < std::uint64_t(count))
                head[std::size_t(target)] = i;
        }
        return head;
    }
    // Position i is final after swap i; the few positions written so far are kept in a map.
    std::unordered_map<std::int64_t, std::int64_t> moved;
    const auto at = [&moved](std::int64_t position) {
        const auto it = moved.find(position);
        return it == moved.end() ? position : it->second;
    };
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t target =
            i + (i + 1 < n ? std::int64_t(generator.random() % std::uint64_t(n - i)) : 0);
        head.push_back(at(target));
        moved[target] = at(i);
    }
    return head;
}

void torchShuffle(std::span<std::int64_t> values, TorchRng& generator)
{
    shuffle(values, generator);
}

void torchShuffle(std::span<std::uint32_t> values, TorchRng& generator)
{
    shuffle(values, generator);
}

std::int64_t torchDrawInt64(TorchRng& generator)
{
    return std::int64_t(generator.random64() & 0x7fffffffffffffffull);
}

void torchRandint(std::int64_t high, std::int64_t count, TorchRng& generator, std::vector<std::int64_t>& out)
{
    const auto range = std::uint64_t(high);
    for (std::int64_t i = 0; i < count; ++i)
        out.push_back(
            std::int64_t(range >= kWideRandint ? generator.random64() % range : generator.random() % range));
}

} // namespace lockstep
