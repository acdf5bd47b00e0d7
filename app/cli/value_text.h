// Recorded values as text and JSON, by the type of their quantity.
#pragma once

#include "app/cli/json_output.h"
#include "core/base/printed_digits.h"
#include "core/base/quantity.h"
#include "core/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// "quantity_123" for one this version does not know.
std::string quantityName(Quantity quantity);
// Errors: Usage, with the names there are.
Result<std::vector<Quantity>> quantitiesByName(const std::vector<std::string>& names);

void writeValue(JsonDocument& json, Quantity quantity, std::uint64_t bits); // a JSON number
// {"notation","digits"} of what a text log prints.
void writeDecimals(JsonDocument& json, const PrintedDigits& printed);
// Exact: C hex float, or "0x0123456789abcdef" for integers and fingerprints.
std::string valueHex(Quantity quantity, std::uint64_t bits);
// Exact decimal digits (17 for floats), for CSV.
std::string valueDigits(Quantity quantity, std::uint64_t bits);
// For tables: floats with 9 digits, fingerprints in hex.
std::string valueText(Quantity quantity, std::uint64_t bits);

} // namespace lockstep
