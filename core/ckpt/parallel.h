// A loop whose passes run on several threads: each thread takes the next index until none is left. `body`
// must not throw.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace lockstep {

// Threads to use: `wanted`, or one per core (at most 8) if it is 0, and never more than there is work.
inline unsigned threadCount(int wanted, std::size_t work)
{
    const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
    const unsigned count = wanted > 0 ? static_cast<unsigned>(wanted) : cores;
    return static_cast<unsigned>(std::min<std::size_t>(count, std::max<std::size_t>(work, 1)));
}

template<typename Body>
void parallelFor(std::size_t count, int threads, Body&& body)
{
    std::atomic<std::size_t> next{0};
    const auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++)
            body(i);
    };
    std::vector<std::jthread> helpers;
    for (unsigned i = 1; i < threadCount(threads, count); ++i)
        helpers.emplace_back(run);
    run();
}

} // namespace lockstep
