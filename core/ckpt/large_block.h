// Room for many items at once, without the thousands of page faults that filling it would cost one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <vector>

namespace lockstep {

// Reserves room for `more` items. Memory of large blocks is asked for in large pages and at once, so `more` must be close to what
// will be used.
template<typename T>
void reserveMore(std::vector<T>& items, std::uint64_t more)
{
    constexpr std::uintptr_t kPage = 4096;
    constexpr std::uintptr_t kWorthwhile = 256 << 10;
    items.reserve(items.size() + static_cast<std::size_t>(more));
    const auto start = reinterpret_cast<std::uintptr_t>(items.data() + items.size());
    const std::uintptr_t first = (start + kPage - 1) & ~(kPage - 1);
    const std::uintptr_t last = (start + more * sizeof(T)) & ~(kPage - 1);
    if (first >= last || last - first < kWorthwhile)
        return;
    // Hints: without them the pages come one by one.
    ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#if defined(MADV_POPULATE_WRITE)
    ::madvise(reinterpret_cast<void*>(first), last - first, MADV_POPULATE_WRITE);
#endif
}

} // namespace lockstep
