// Signatures and sizes of a zip's records. Source: PKWARE APPNOTE 6.3.10, sections 4.3 and 4.4.
#pragma once

#include <cstdint>

namespace lockstep::zip {

inline constexpr std::uint32_t kLocalSignature = 0x04034b50;
inline constexpr std::uint32_t kEntrySignature = 0x02014b50;
inline constexpr std::uint32_t kEndSignature = 0x06054b50;
inline constexpr std::uint32_t kEnd64Signature = 0x06064b50;
inline constexpr std::uint32_t kLocatorSignature = 0x07064b50;
inline constexpr std::uint32_t kDescriptorSignature = 0x08074b50;
// Without names, extra fields and comments.
inline constexpr std::uint64_t kEndSize = 22;
inline constexpr std::uint64_t kLocatorSize = 20;
inline constexpr std::uint64_t kEntrySize = 46;
inline constexpr std::uint64_t kLocalSize = 30;
// In a 32-bit field: the value lies in the zip64 field. From it on values do not fit.
inline constexpr std::uint64_t kNo32 = 0xffffffff;
inline constexpr std::uint16_t kDescriptorFlag = 1u << 3;
inline constexpr std::uint16_t kEncryptedFlags = 1u | 1u << 6 | 1u << 13;

} // namespace lockstep::zip
