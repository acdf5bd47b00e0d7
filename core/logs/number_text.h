// Numbers in text: JSON, CSV and what training programs print. Private to core/logs.
#pragma once

#include "core/logs/series_set.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep::logs {

// The whole text is one number: decimal, or nan, inf, infinity with a sign and in any case.
std::optional<double> parseNumber(std::string_view text);
std::optional<std::int64_t> parseInteger(std::string_view text);
// As parseNumber, with the digits it was printed with; commas between thousands are dropped.
std::optional<Value> parsePrinted(std::string_view text);

std::string_view trimmed(std::string_view text);

} // namespace lockstep::logs
