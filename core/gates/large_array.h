// A fixed array of plain numbers on huge pages: a permutation of 100 million ids is read and written at
// random, and with 4 KiB pages most of that time would go into address translation and page faults.
// Zero-filled by the kernel.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include <sys/mman.h>

namespace lockstep {

template<typename T>
class LargeArray
{
    static_assert(std::is_trivially_copyable_v<T>);

public:
    LargeArray() = default;
    // Throws std::bad_alloc where the kernel refuses, like any container.
    explicit LargeArray(std::size_t size) : size_(size)
    {
        if (size == 0)
            return;
        // Aligned to a huge page, otherwise the first and last 2 MiB stay on small ones.
        constexpr std::size_t hugePage = std::size_t(2) << 20;
        const std::size_t bytes = size * sizeof(T);
        const std::size_t mapped = bytes + (bytes >= hugePage ? hugePage : 0);
        void* base =
            mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED)
            throw std::bad_alloc();
        mapping_ = std::unique_ptr<void, Unmap>(base, Unmap{mapped});
        void* start = base;
        std::size_t space = mapped;
        if (bytes >= hugePage && std::align(hugePage, bytes, start, space))
            madvise(start, bytes, MADV_HUGEPAGE); // a hint; without it everything still works
        data_ = static_cast<T*>(start);
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    std::span<T> span() { return {data_, size_}; }
    std::span<const T> span() const { return {data_, size_}; }

private:
    struct Unmap {
        std::size_t bytes = 0;
        void operator()(void* base) const { munmap(base, bytes); }
    };
    std::unique_ptr<void, Unmap> mapping_;
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace lockstep
