// Operands of pickle instructions that carry a value of their own: texts, whole numbers, floats, in binary and in decimal form.
#include "core/base/hexfloat.h"
#include "core/ckpt/bytes.h"
#include "core/ckpt/pickle_machine.h"
#include "core/ckpt/pickle_text.h"
#include "core/ckpt/utf8.h"

#include <cstring>
#include <optional>

namespace lockstep {

PickleMachine::Problem PickleMachine::pushText(ValueKind kind, std::uint64_t size)
{
    if (size > in_.bytes.size() - at_)
        return problem(CkptFault::PickleTruncated,
                       "a text of " + std::to_string(size) + " bytes reaches past the end of the pickle");
    if (size > 0xfffffffeu)
        return problem(CkptFault::PickleTooLarge, "a text of " + std::to_string(size) + " bytes");
    const std::string_view text = asText(in_.bytes.subspan(at_, size));
    at_ += size;
    if (kind == ValueKind::Str && !validUtf8(text))
        return problem(CkptFault::PickleText, "a text that is not UTF-8");
    push(b_.text(kind, text));
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::pushLong(std::uint64_t size)
{
    const std::byte* bytes = nullptr;
    if (size > in_.bytes.size() || !take(size, bytes))
        return problem(CkptFault::PickleTruncated,
                       "an integer of " + std::to_string(size) + " bytes reaches past the end of the pickle");
    // Drop bytes that only repeat the sign.
    const auto negative = [&](std::uint64_t n) {
        return n > 0 && (static_cast<std::uint8_t>(bytes[n - 1]) & 0x80) != 0;
    };
    const bool minus = negative(size);
    while (size > 1 && static_cast<std::uint8_t>(bytes[size - 1]) == (minus ? 0xff : 0) &&
           negative(size - 1) == minus)
        --size;
    if (size > 8) {
        push(b_.bigInt({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)}));
        return std::nullopt;
    }
    std::uint64_t value = minus ? ~0ULL : 0;
    std::memcpy(&value, bytes, size);
    push(b_.integer(static_cast<std::int64_t>(value)));
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::pushInteger(std::string_view line, bool isLong)
{
    if (!isLong && (line == "00" || line == "01")) {
        push(b_.boolean(line == "01"));
        return std::nullopt;
    }
    if (isLong && line.ends_with('L'))
        line.remove_suffix(1);
    std::string bytes;
    if (!parseDecimal(line, bytes))
        return problem(CkptFault::PickleText, "not a whole number of at most 4300 digits");
    if (bytes.size() > 8) {
        b_.charge(bytes.size());
        push(b_.bigInt(c_.keep(std::move(bytes))));
        return std::nullopt;
    }
    std::uint64_t value = !bytes.empty() && (bytes.back() & 0x80) != 0 ? ~0ULL : 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    push(b_.integer(static_cast<std::int64_t>(value)));
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::pushFloatText()
{
    std::string_view line;
    if (!takeLine(line))
        return truncated();
    constexpr std::size_t kLongest = 511;
    const std::optional<double> value = line.size() <= kLongest ? parseHexFloat(line) : std::nullopt;
    if (!value)
        return problem(CkptFault::PickleText, "not a number");
    push(b_.real(*value));
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::pushQuoted()
{
    std::string_view line;
    if (!takeLine(line))
        return truncated();
    std::string text;
    if (!unquotePython2(line, text))
        return problem(CkptFault::PickleText, "a quoted string without its quotes");
    const ValueKind kind = validUtf8(text) ? ValueKind::Str : ValueKind::Bytes;
    b_.charge(text.size() + sizeof text);
    push(b_.text(kind, c_.keep(std::move(text))));
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::pushEscaped()
{
    std::string_view line;
    if (!takeLine(line))
        return truncated();
    std::string text;
    if (!decodeRawUnicodeEscape(line, text))
        return problem(CkptFault::PickleText, "a malformed \\u escape");
    b_.charge(text.size() + sizeof text);
    push(b_.text(ValueKind::Str, c_.keep(std::move(text))));
    return std::nullopt;
}

} // namespace lockstep
