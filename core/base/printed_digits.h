// How many digits a text log shows of a value. Two such values can be called equal to these digits and no further.
#pragma once

#include <string>

namespace lockstep {

// Where the lines of a log differ, the fewest digits.
struct PrintedDigits {
    bool scientific = false; // 1.058850E+01: digits 6, seven significant ones
    int digits = 0;          // after the point

    bool operator==(const PrintedDigits&) const = default;
};

// "5 printed decimals", "7 printed digits".
inline std::string printedWords(const PrintedDigits& printed)
{
    const int shown = printed.scientific ? printed.digits + 1 : printed.digits;
    return std::to_string(shown) + (printed.scientific ? " printed digit" : " printed decimal") +
           (shown == 1 ? "" : "s");
}

} // namespace lockstep
