#include "core/ckpt/pickle_text.h"

#include "core/ckpt/utf8.h"

#include <charconv>
#include <cstdint>
#include <vector>

namespace lockstep {
namespace {

int hexDigit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = static_cast<char>(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool readHex(std::string_view text, std::size_t at, std::size_t digits, std::uint32_t& value)
{
    if (text.size() - at < digits)
        return false;
    value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
        const int d = hexDigit(text[at + i]);
        if (d < 0)
            return false;
        value = value * 16 + static_cast<std::uint32_t>(d);
    }
    return true;
}

} // namespace

bool parseDecimal(std::string_view text, std::string& bytes)
{
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r'))
        text.remove_suffix(1);
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+'))
        text.remove_prefix(1);
    if (text.empty() || text.size() > 4300)
        return false;
    std::vector<std::uint32_t> limbs;
    for (std::size_t at = 0; at < text.size();) {
        constexpr std::size_t kDigits = 9; // as many as fit 32 bits
        const std::string_view part = text.substr(at, kDigits);
        at += part.size();
        std::uint64_t carry = 0;
        std::uint64_t scale = 1;
        for (const char c : part) {
            if (c < '0' || c > '9')
                return false;
            carry = carry * 10 + static_cast<std::uint64_t>(c - '0');
            scale *= 10;
        }
        for (std::uint32_t& limb : limbs) {
            carry += limb * scale;
            limb = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        if (carry != 0)
            limbs.push_back(static_cast<std::uint32_t>(carry));
    }
    bytes.assign(reinterpret_cast<const char*>(limbs.data()), limbs.size() * sizeof(std::uint32_t));
    bytes += '\0'; // room for the sign
    if (negative) {
        int carry = 1;
        for (char& byte : bytes) {
            carry += static_cast<unsigned char>(~byte);
            byte = static_cast<char>(carry & 0xff);
            carry >>= 8;
        }
    }
    const auto sign = [&](std::size_t n) { return (static_cast<unsigned char>(bytes[n - 1]) & 0x80) != 0; };
    const bool minus = sign(bytes.size());
    while (bytes.size() > 1 && static_cast<unsigned char>(bytes.back()) == (minus ? 0xff : 0) &&
           sign(bytes.size() - 1) == minus)
        bytes.pop_back();
    return true;
}

bool parseIndex(std::string_view text, std::uint64_t& index)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool unquotePython2(std::string_view text, std::string& bytes)
{
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r'))
        text.remove_suffix(1);
    if (text.size() < 2 || text.front() != text.back() || (text.front() != '\'' && text.front() != '"'))
        return false;
    text = text.substr(1, text.size() - 2);
    bytes.clear();
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 1 >= text.size()) {
            bytes += text[i];
            continue;
        }
        const char c = text[++i];
        std::uint32_t value = 0;
        switch (c) {
        case 'n':
            bytes += '\n';
            break;
        case 't':
            bytes += '\t';
            break;
        case 'r':
            bytes += '\r';
            break;
        case 'a':
            bytes += '\a';
            break;
        case 'b':
            bytes += '\b';
            break;
        case 'f':
            bytes += '\f';
            break;
        case 'v':
            bytes += '\v';
            break;
        case '\\':
        case '\'':
        case '"':
            bytes += c;
            break;
        case 'x':
            if (!readHex(text, i + 1, 2, value))
                return false;
            bytes += static_cast<char>(value);
            i += 2;
            break;
        default:
            if (c >= '0' && c <= '7') {
                std::size_t digits = 0;
                for (; digits < 3 && i + digits < text.size() && text[i + digits] >= '0' &&
                       text[i + digits] <= '7';
                     ++digits)
                    value = value * 8 + static_cast<std::uint32_t>(text[i + digits] - '0');
                bytes += static_cast<char>(value);
                i += digits - 1;
            } else {
                bytes += '\\';
                bytes += c;
            }
        }
    }
    return true;
}

bool decodeRawUnicodeEscape(std::string_view text, std::string& utf8)
{
    utf8.clear();
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool escape =
            text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == 'u' || text[i + 1] == 'U');
        if (!escape) {
            appendUtf8(utf8, static_cast<unsigned char>(text[i]));
            continue;
        }
        const std::size_t digits = text[i + 1] == 'u' ? 4 : 8;
        std::uint32_t value = 0;
        if (!readHex(text, i + 2, digits, value) || value > 0x10ffff)
            return false;
        appendUtf8(utf8, value);
        i += 1 + digits;
    }
    return true;
}

} // namespace lockstep
