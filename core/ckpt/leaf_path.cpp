#include "core/ckpt/leaf_path.h"

#include "core/ckpt/utf8.h"
#include "core/ckpt/walk.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace lockstep {
namespace {

bool plainByte(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

void appendEscaped(std::string& path, std::string_view text)
{
    constexpr char digits[] = "0123456789ABCDEF";
    while (!text.empty()) {
        const auto odd =
            static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), plainByte) - text.begin());
        path.append(text.substr(0, odd));
        if (odd == text.size())
            return;
        path += '%';
        path += digits[static_cast<unsigned char>(text[odd]) >> 4];
        path += digits[static_cast<unsigned char>(text[odd]) & 15];
        text.remove_prefix(odd + 1);
    }
}

void appendHex(std::string& path, std::string_view bytes)
{
    constexpr char digits[] = "0123456789abcdef";
    for (const char c : bytes) {
        path += digits[static_cast<unsigned char>(c) >> 4];
        path += digits[static_cast<unsigned char>(c) & 15];
    }
}

// False if the key is of no kind that can be written out; the caller then writes its position.
bool appendKey(std::string& path, Value key, int depth)
{
    switch (key.kind()) {
    case ValueKind::Bool:
        path += key.boolean() ? "b:1" : "b:0";
        return true;
    case ValueKind::Str:
        path += "s:";
        appendEscaped(path, key.text());
        return true;
    case ValueKind::Int:
    case ValueKind::BigInt:
        path += "i:" + key.decimal();
        return true;
    case ValueKind::None:
        path += "n:";
        return true;
    case ValueKind::Float: {
        char text[24];
        std::uint64_t bits = 0;
        const double value = key.real();
        std::memcpy(&bits, &value, sizeof bits);
        std::snprintf(text, sizeof text, "f:%016llx", static_cast<unsigned long long>(bits));
        path += text;
        return true;
    }
    case ValueKind::Bytes:
        path += "y:";
        appendHex(path, key.text());
        return true;
    case ValueKind::Tuple:
    case ValueKind::Size: {
        if (depth > 8 || key.size() > 1000)
            return false;
        path += "t:(";
        for (std::size_t i = 0; i < key.size(); ++i) {
            if (i > 0)
                path += ',';
            const std::size_t before = path.size();
            if (!appendKey(path, key.item(i), depth + 1) || path.size() > 100000) {
                path.resize(before);
                path += "o:" + std::to_string(i);
            }
        }
        path += ')';
        return true;
    }
    default:
        return false;
    }
}

int hexValue(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string unescaped(std::string_view payload)
{
    std::string text;
    for (std::size_t i = 0; i < payload.size(); ++i) {
        if (payload[i] == '%' && i + 2 < payload.size() && hexValue(payload[i + 1]) >= 0 &&
            hexValue(payload[i + 2]) >= 0) {
            text += static_cast<char>(hexValue(payload[i + 1]) * 16 + hexValue(payload[i + 2]));
            i += 2;
        } else {
            text += payload[i];
        }
    }
    return text;
}

} // namespace

void appendKeyStep(std::string& path, Value key, std::size_t position)
{
    const std::size_t before = path.size();
    if (!appendKey(path, key, 0)) {
        path.resize(before);
        path += "o:" + std::to_string(position);
    }
}

void appendAttribute(std::string& path, Value key, std::size_t position)
{
    if (key.is(ValueKind::Str))
        appendEscaped(path, key.text());
    else
        appendKeyStep(path, key, position);
}

std::string displayName(std::string_view path)
{
    std::string name;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t colon = path.find(':', at);
        if (colon == std::string_view::npos)
            break;
        const std::size_t end = std::min(path.find('/', colon), path.size());
        if (!name.empty())
            name += '.';
        const std::string_view payload = path.substr(colon + 1, end - colon - 1);
        if (payload.find('%') == std::string_view::npos)
            name += payload;
        else
            name += printable(unescaped(payload));
        at = end;
    }
    return name;
}

std::string printable(std::string_view text)
{
    const auto harmless = [](char c) { return c >= 0x20 && c < 0x7f; };
    if (std::all_of(text.begin(), text.end(), harmless))
        return std::string(text);
    std::string out;
    char escape[8];
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c < 0x20 || c == 0x7f) {
            std::snprintf(escape, sizeof escape, "\\x%02x", c);
            out += escape;
            continue;
        }
        if (c < 0x80) {
            out += text[i];
            continue;
        }
        // One character of several bytes: kept unless it is broken, a control (C1), a surrogate, or turns the direction of writing.
        const std::size_t size = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
        const std::string_view one = text.substr(i, size);
        const bool whole = one.size() == size && validUtf8(one);
        std::uint32_t code = 0;
        if (whole) {
            code = c & (0xffu >> (size + 1));
            for (std::size_t k = 1; k < size; ++k)
                code = code << 6 | (static_cast<unsigned char>(one[k]) & 0x3fu);
        }
        const bool hidden = !whole || code < 0xa0 || (code >= 0xd800 && code < 0xe000) ||
                            (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
                            (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
        for (std::size_t k = 0; k < (whole ? size : 1); ++k) {
            if (!hidden) {
                out += text[i + k];
            } else {
                std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(text[i + k]));
                out += escape;
            }
        }
        i += (whole ? size : 1) - 1;
    }
    return out;
}

} // namespace lockstep
