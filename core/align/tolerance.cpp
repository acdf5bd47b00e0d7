#include "core/align/tolerance.h"

#include "core/base/hexfloat.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

namespace lockstep {

namespace {
constexpr double kMostUlp = 18446744073709551616.0; // 2^64: all float64 values lie closer together
}

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
        const std::optional<double> limit = parseHexFloat(text.substr(4)); // decimals as well
        if (limit && std::isfinite(*limit) && *limit >= 0 && (mode != CompareMode::Ulp || *limit <= kMostUlp))
            return Tolerance{mode, *limit};
    }
    return Error{
        ErrorKind::Usage, fmt::format("\"{}\" is not a way to compare", text),
        "a mode is exact, ulp:N, abs:X, rel:X or envelope, with a limit of 0 or more (ulp: at most 2^64)",
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

} // namespace lockstep
