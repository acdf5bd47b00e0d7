#include "core/align/prefix_within.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lockstep::align {

namespace {

// Values that are judged together, without a branch in between, so that the compiler uses vector instructions.
constexpr std::size_t kBlock = 64;
constexpr std::uint64_t kSign = std::uint64_t(1) << 63;
constexpr std::uint64_t kToSign = std::uint64_t(1)
                                  << 52; // carries an exponent of ones (NaN, infinity) into the sign

// Each of the following has its sign bit set if a pair may be out of tolerance. It may be set for a pair that is within:
// such a block is judged value by value. Never the other way round.

std::uint64_t notFinite(std::uint64_t bits)
{
    return (bits & ~kSign) + kToSign;
}

struct BeyondAbsolute {
    double limit;
    std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const
    {
        const double distance = std::fabs(std::bit_cast<double>(a) - std::bit_cast<double>(b));
        return std::bit_cast<std::uint64_t>(limit - distance) | notFinite(a) | notFinite(b);
    }
};

struct BeyondRelative {
    double limit;
    std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const
    {
        const auto x = std::bit_cast<double>(a), y = std::bit_cast<double>(b);
        const double larger = std::fabs(x) > std::fabs(y) ? std::fabs(x) : std::fabs(y);
        return std::bit_cast<std::uint64_t>(limit * larger - std::fabs(x - y)) | notFinite(a) | notFinite(b);
    }
};

// Of one sign, the bits of doubles count the representable numbers. `reach` is a power of two not above the limit, so
// that -reach <= a - b < reach shows in the bits above it.
struct BeyondUlp {
    std::uint64_t reach;
    std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const
    {
        const std::uint64_t high = (a - b + reach) & ~(2 * reach - 1);
        return high | (std::uint64_t(0) - high) | (a ^ b) | notFinite(a) | notFinite(b);
    }
};

template<typename Beyond>
std::size_t blocksWithin(const Beyond& beyond, const std::uint64_t* a, const std::uint64_t* b,
                         std::size_t size)
{
    std::size_t at = 0;
    for (; at + kBlock <= size; at += kBlock) {
        std::uint64_t any = 0;
        for (std::size_t k = 0; k < kBlock; ++k)
            any |= beyond(a[at + k], b[at + k]);
        if (any & kSign)
            break;
    }
    return at;
}

// Values of whole blocks at the front that are surely within.
std::size_t surelyWithin(const Tolerance& tolerance, const std::uint64_t* a, const std::uint64_t* b,
                         std::size_t size)
{
    switch (tolerance.mode) {
    case CompareMode::Absolute:
        return blocksWithin(BeyondAbsolute{tolerance.limit}, a, b, size);
    case CompareMode::Relative:
        return blocksWithin(BeyondRelative{tolerance.limit}, a, b, size);
    case CompareMode::Ulp:
        if (tolerance.limit >= 1 && tolerance.limit < 0x1p62)
            return blocksWithin(BeyondUlp{std::bit_floor(std::uint64_t(tolerance.limit))}, a, b, size);
        return 0;
    default:
        return 0;
    }
}

} // namespace

std::size_t prefixWithin(const Tolerance& tolerance, const std::vector<std::uint64_t>& a,
                         const std::vector<std::uint64_t>& b)
{
    if (tolerance.mode == CompareMode::Exact)
        return std::size_t(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
    if (tolerance.mode == CompareMode::Envelope)
        return 0;
    const std::size_t size = a.size();
    std::size_t at = 0;
    while (at < size) {
        at += surelyWithin(tolerance, a.data() + at, b.data() + at, size - at);
        for (const std::size_t end = std::min(size, at + kBlock); at < end; ++at)
            if (!within(tolerance.mode, tolerance.limit, a[at], b[at], ValueType::F64))
                return at;
    }
    return at;
}

} // namespace lockstep::align
