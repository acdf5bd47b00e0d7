// Floats as C hex text ("0x1.8p+1"): exact, and read by Python's float.fromhex, C's strtod and JavaScript
// parsers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

// "nan", "inf" and "-inf" for values that are not finite.
std::string hexFloat(double value);
std::optional<double> parseHexFloat(std::string_view text);

} // namespace lockstep
