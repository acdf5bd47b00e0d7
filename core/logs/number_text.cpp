#include "core/logs/number_text.h"

#include "core/base/hexfloat.h"

#include <charconv>
#include <string>
#include <type_traits>

namespace lockstep::logs {

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

// What std::from_chars takes besides: "nan(...)", and no plus sign.
template<typename Number>
std::optional<Number> parseAll(std::string_view text)
{
    if (text.starts_with('+') && text.size() > 1 && text[1] != '-')
        text.remove_prefix(1);
    if (text.empty() || text.back() == ')')
        return std::nullopt;
    Number number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (rest != end || error == std::errc::invalid_argument)
        return std::nullopt;
    if (error == std::errc())
        return number;
    if constexpr (std::is_floating_point_v<Number>)
        return parseHexFloat(
            text); // too large or too small for a double: strtod behind it rounds to infinity or zero
    else
        return std::nullopt;
}

} // namespace

std::string_view trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::optional<double> parseNumber(std::string_view text)
{
    return parseAll<double>(text);
}

std::optional<std::int64_t> parseInteger(std::string_view text)
{
    return parseAll<std::int64_t>(text);
}

std::optional<Value> parsePrinted(std::string_view text)
{
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool between =
            text[i] == ',' && i > 0 && i + 1 < text.size() && isDigit(text[i - 1]) && isDigit(text[i + 1]);
        if (!between)
            plain += text[i];
    }
    const std::optional<double> number = parseNumber(plain);
    if (!number)
        return std::nullopt;
    Value value{*number, LogStorage::Decimal, std::nullopt};
    if (plain.find_first_of("nN") != std::string::npos) // nan, inf: no digits
        return value;
    PrintedDigits printed;
    printed.scientific = plain.find_first_of("eE") != std::string::npos;
    if (const std::size_t point = plain.find('.'); point != std::string::npos) {
        for (std::size_t i = point + 1; i < plain.size() && isDigit(plain[i]); ++i)
            ++printed.digits;
    }
    value.printed = printed;
    return value;
}

} // namespace lockstep::logs
