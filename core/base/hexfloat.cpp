#include "core/base/hexfloat.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace lockstep {

std::string hexFloat(double value)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value < 0 ? "-inf" : "inf";
    char text[40];
    std::snprintf(text, sizeof text, "%a", value);
    return text;
}

std::optional<double> parseHexFloat(std::string_view text)
{
    const std::string copy(text);
    char* end = nullptr;
    const double value = std::strtod(copy.c_str(), &end);
    if (copy.empty() || end != copy.c_str() + copy.size())
        return std::nullopt;
    return value;
}

} // namespace lockstep
