// UTF-8 as Python's "surrogatepass" reads it: lone surrogates are encoded like other code points.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

bool validUtf8(std::string_view text);
void appendUtf8(std::string& out, char32_t codePoint);
// Bytes read as Latin-1, in UTF-8.
std::string latin1ToUtf8(std::string_view bytes);
// The reverse; false if a character lies outside Latin-1.
bool utf8ToLatin1(std::string_view text, std::string& bytes);

} // namespace lockstep
