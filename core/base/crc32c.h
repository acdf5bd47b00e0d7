// CRC-32C (Castagnoli), the checksum of TFRecord files. Polynomial 0x1EDC6F41, reflected 0x82F63B78: RFC 3720,
// section 12.1 and its examples in B.4.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep {

// Uses the CPU's own instruction where it has one (SSE 4.2). Any thread.
std::uint32_t crc32c(std::string_view bytes);

} // namespace lockstep
