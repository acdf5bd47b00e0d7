// The text forms of protocol 0 and of Python 2.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

// Decimal text to the shortest little-endian two's complement. At most 4300 digits, as Python itself allows.
bool parseDecimal(std::string_view text, std::string& bytes);
bool parseIndex(std::string_view text, std::uint64_t& index);
// A Python 2 string literal with its quotes and escapes, as repr() writes it.
bool unquotePython2(std::string_view text, std::string& bytes);
// \uXXXX and \UXXXXXXXX; every other byte is a Latin-1 character. The result is UTF-8.
bool decodeRawUnicodeEscape(std::string_view text, std::string& utf8);

} // namespace lockstep
