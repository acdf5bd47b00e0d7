// Numbers as people read them. Values that decide something are printed exactly; tables use fixed decimals so that digits
// stand below each other.
#pragma once

#include <QString>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

inline QString qs(const std::string& text)
{
    return QString::fromStdString(text);
}

// The shortest text that reads back to the same float64: what the store holds, nothing rounded.
QString formatExact(double value);
// Six decimals, or an exponent where those would hide the value. "-" for NaN only if `dashForNan`.
QString formatLoss(double value, bool dashForNan = true);
// A difference: four significant digits with exponent, "0" only for an exact zero.
QString formatDelta(double value);
// "0:09", "2:29", "1:02:03".
QString formatDuration(std::int64_t milliseconds);
// "2.1 MB" in powers of 1000, as file managers do.
QString formatBytes(std::int64_t bytes);
// "14:05" today, "12 Mar 14:05" before.
QString formatClock(std::int64_t unixMs);
// "1,769,472".
QString formatCount(std::int64_t count);
// "768 x 2304".
QString formatShape(const std::vector<std::int64_t>& shape);
// First eight hexadecimal digits in groups of four: "b41e 77c0".
QString formatShortHash(std::uint64_t hash);
// The folder with the home directory as "~".
QString formatFolder(const QString& path);

} // namespace lockstep
