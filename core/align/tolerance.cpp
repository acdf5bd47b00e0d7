#include "core/align/tolerance.h"

#include "core/base/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace lockstep {

namespace {

// Maps doubles to integers so that neighbours are 1 apart and both zeros meet at 0.
std::int64_t ordered(double value)
{
    const auto bits = std::int64_t(bitsOf(value));
    return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
}

} // namespace

Result<Tolerance> parseTolerance(const std::string& text)
{
    if (text == "exact")
        return Tolerance{CompareMode::Exact, 0};
    if (text == "envelope")
        return Tolerance{CompareMode::Envelope, 0};
    if (text == "auto")
        return Tolerance{CompareMode::Automatic, 0};
    for (const auto& [prefix, mode] :
         {std::pair{"ulp:", CompareMode::Ulp}, std::pair{"abs:", CompareMode::Absolute},
          std::pair{"rel:", CompareMode::Relative}}) {
        if (!text.starts_with(prefix))
            continue;
        const char* number = text.c_str() + 4;
        char* end = nullptr;
        const double limit = std::strtod(number, &end);
        if (*number != '\0' && *end == '\0' && std::isfinite(limit) && limit >= 0)
            return Tolerance{mode, limit};
    }
    return Error{ErrorKind::Usage, fmt::format("\"{}\" is not a way to compare", text),
                 "a mode is exact, ulp:N, abs:X, rel:X or envelope, with a limit of 0 or more",
                 "Write for instance --mode exact or --mode rel:1e-6"};
}

std::string toleranceName(const Tolerance& tolerance)
{
    switch (tolerance.mode) {
    case CompareMode::Automatic:
        return "auto";
    case CompareMode::Exact:
        return "exact";
    case CompareMode::Ulp:
        return fmt::format("ulp:{}", tolerance.limit);
    case CompareMode::Absolute:
        return fmt::format("abs:{}", tolerance.limit);
    case CompareMode::Relative:
        return fmt::format("rel:{}", tolerance.limit);
    case CompareMode::Envelope:
        return "envelope";
    }
    return "auto";
}

std::uint64_t ulpDistance(double a, double b)
{
    if (std::isnan(a) || std::isnan(b))
        return std::numeric_limits<std::uint64_t>::max();
    const std::int64_t x = ordered(a);
    const std::int64_t y = ordered(b);
    return x > y ? std::uint64_t(x) - std::uint64_t(y) : std::uint64_t(y) - std::uint64_t(x);
}

bool within(CompareMode mode, double limit, std::uint64_t a, std::uint64_t b, ValueType type)
{
    if (mode == CompareMode::Exact || type != ValueType::F64)
        return a == b;
    const double x = doubleOf(a);
    const double y = doubleOf(b);
    if (!std::isfinite(x) || !std::isfinite(y))
        return x == y; // false for NaN
    switch (mode) {
    case CompareMode::Ulp:
        return double(ulpDistance(x, y)) <= limit;
    case CompareMode::Relative:
        return std::fabs(x - y) <= limit * std::max(std::fabs(x), std::fabs(y));
    default:
        return std::fabs(x - y) <= limit;
    }
}

} // namespace lockstep
