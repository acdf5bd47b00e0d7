// Summary of a stretch of values: smallest and largest finite one, number of the others.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace lockstep {

// NaN and infinities are counted, never compared.
struct SeriesNode {
    double lo = std::numeric_limits<double>::infinity(); // of the finite values; lo > hi: there is none
    double hi = -std::numeric_limits<double>::infinity();
    std::uint32_t bad = 0;

    bool empty() const { return lo > hi; }
    void add(double value)
    {
        if (!std::isfinite(value)) {
            ++bad;
            return;
        }
        lo = value < lo ? value : lo;
        hi = value > hi ? value : hi;
    }
    void add(const SeriesNode& node)
    {
        lo = node.lo < lo ? node.lo : lo;
        hi = node.hi > hi ? node.hi : hi;
        bad += node.bad;
    }
    bool operator==(const SeriesNode&) const = default;
};

} // namespace lockstep
