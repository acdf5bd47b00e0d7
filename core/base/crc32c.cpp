#include "core/base/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace lockstep {

namespace {

constexpr std::array<std::uint32_t, 256> makeTable()
{
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ (crc & 1 ? 0x82F63B78u : 0u);
        table[byte] = crc;
    }
    return table;
}

constexpr std::array<std::uint32_t, 256> kTable = makeTable();

std::uint32_t byTable(std::uint32_t crc, const char* data, std::size_t size)
{
    for (std::size_t i = 0; i < size; ++i)
        crc = (crc >> 8) ^ kTable[(crc ^ std::uint8_t(data[i])) & 0xff];
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t byInstruction(std::uint32_t start, const char* data,
                                                              std::size_t size)
{
    std::uint64_t crc = start;
    for (; size >= 8; data += 8, size -= 8) {
        std::uint64_t word;
        std::memcpy(&word, data, 8);
        crc = _mm_crc32_u64(crc, word);
    }
    auto last = std::uint32_t(crc);
    for (; size > 0; ++data, --size)
        last = _mm_crc32_u8(last, std::uint8_t(*data));
    return last;
}
#endif

} // namespace

std::uint32_t crc32c(std::string_view bytes)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~byInstruction(~0u, bytes.data(), bytes.size());
#endif
    return ~byTable(~0u, bytes.data(), bytes.size());
}

} // namespace lockstep
