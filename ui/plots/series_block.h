// 4096 values of a series with the two lower levels of its pyramid. Private to SeriesSnapshot; immutable once sealed.
#pragma once

#include "ui/plots/series_node.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

struct SeriesBlock {
    static constexpr std::size_t kFan = 16;
    static constexpr std::size_t kSize = kFan * kFan * kFan;

    // One pyramid level, an array per field: a query reads 16 bytes per node, and `bad` only where there is any.
    struct Level {
        std::vector<double> lo, hi;
        std::vector<std::uint16_t> bad;

        std::size_t size() const { return lo.size(); }
        SeriesNode node(std::size_t i) const { return {lo[i], hi[i], bad[i]}; }
        bool operator==(const Level&) const = default;
    };

    std::int64_t first = 0;
    std::int64_t stride = 1;
    std::vector<std::int64_t> x; // empty where the steps are first + i * stride
    std::vector<double> y;       // at most kSize
    Level level1;                // one node per 16 values
    Level level2;                // one node per 256 values
    SeriesNode all;

    std::int64_t step(std::size_t i) const
    {
        return x.empty() ? first + static_cast<std::int64_t>(i) * stride : x[i];
    }
    // Builds the levels from `y` and drops `x` where the steps turn out even.
    void seal();
    // Adds the values [begin, end) to `into`.
    void query(std::size_t begin, std::size_t end, SeriesNode& into) const;
};

} // namespace lockstep
