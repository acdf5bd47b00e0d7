#include "core/base/hexfloat.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <locale.h>

namespace lockstep {

std::string hexFloat(double value)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value < 0 ? "-inf" : "inf";
    // Not printf's %a: Qt sets the user's locale, and with a decimal comma other programs could not read it.
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, std::fabs(value), std::chars_format::hex);
    return (std::signbit(value) ? "-0x" : "0x") + std::string(digits, end.ptr);
}

std::optional<double> parseHexFloat(std::string_view text)
{
    static const locale_t plain =
        newlocale(LC_ALL_MASK, "C", locale_t(nullptr)); // a point, whatever Qt has set
    const std::string copy(text);
    char* end = nullptr;
    const double value = strtod_l(copy.c_str(), &end, plain);
    if (copy.empty() || end != copy.c_str() + copy.size())
        return std::nullopt;
    return value;
}

} // namespace lockstep
