#include "core/ckpt/mapped_range.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <sys/mman.h>

namespace lockstep {
namespace {

// What the handler looks at; only lock-free atomics. A slot is free while `begin` is 0.
struct Slot {
    std::atomic<std::uintptr_t> begin{0};
    std::atomic<std::size_t> size{0};
    std::atomic<bool> cut{false};
};
constexpr std::uintptr_t kReserved = 1;
constexpr std::uintptr_t kPage = 4096;
std::array<Slot, 4096> slots;
struct sigaction previous = {};

bool replaceByZeros(std::uintptr_t address)
{
    for (Slot& slot : slots) {
        const std::uintptr_t begin = slot.begin.load(std::memory_order_acquire);
        const std::size_t size = slot.size.load(std::memory_order_relaxed);
        if (begin <= kReserved || address < begin || address - begin >= size)
            continue;
        // A file that is cut has lost everything behind this page as well.
        const std::uintptr_t page = address & ~(kPage - 1);
        slot.cut.store(true, std::memory_order_relaxed);
        return ::mmap(reinterpret_cast<void*>(page), begin + size - page, PROT_READ,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    }
    return false;
}

void onBusError(int signal, siginfo_t* info, void* context)
{
    const int savedErrno = errno;
    if (replaceByZeros(reinterpret_cast<std::uintptr_t>(info->si_addr))) {
        errno = savedErrno;
        return;
    }
    if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction)
        return previous.sa_sigaction(signal, info, context);
    if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
        return previous.sa_handler(signal);
    std::signal(signal, SIG_DFL); // the access is repeated and ends the process
}

void installHandler()
{
    struct sigaction action = {};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &previous);
}

} // namespace

MappedRange::MappedRange(const void* begin, std::size_t size)
{
    static std::once_flag once;
    std::call_once(once, installHandler);
    for (std::size_t i = 0; i < slots.size(); ++i) {
        std::uintptr_t free = 0;
        if (slots[i].begin.load(std::memory_order_relaxed) != 0 ||
            !slots[i].begin.compare_exchange_strong(free, kReserved))
            continue;
        slots[i].cut = false;
        slots[i].size = size;
        slots[i].begin.store(reinterpret_cast<std::uintptr_t>(begin), std::memory_order_release);
        slot_ = static_cast<int>(i);
        return;
    }
}

MappedRange::~MappedRange()
{
    if (slot_ >= 0)
        slots[static_cast<std::size_t>(slot_)].begin = 0;
}

bool MappedRange::cut() const
{
    return slot_ >= 0 && slots[static_cast<std::size_t>(slot_)].cut;
}

} // namespace lockstep
