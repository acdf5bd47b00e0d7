// SHA-256 (FIPS 180-4). Uses the CPU's SHA instructions where it has them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

class Sha256
{
public:
    void update(std::span<const std::byte> bytes);
    void update(std::string_view text) { update(std::as_bytes(std::span(text.data(), text.size()))); }
    std::string hex(); // finishes; 64 lower-case digits

    static std::string hexOf(std::string_view text)
    {
        Sha256 sha;
        sha.update(text);
        return sha.hex();
    }

private:
    std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::byte, 64> block_ = {};
    std::size_t used_ = 0;
    std::uint64_t total_ = 0;
};

} // namespace lockstep
