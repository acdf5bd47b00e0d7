#include "ui/plots/series_block.h"

#include <algorithm>
#include <limits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace lockstep {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();

struct Extremes {
    double lo = kInfinity, hi = -kInfinity;

    // Only finite values or pyramid nodes.
    void add(const double* los, const double* his, std::size_t n)
    {
        std::size_t i = 0;
#if defined(__SSE2__)
        // Four values of each per round in independent lanes; one after the other, the loop waits for every comparison.
        if (n >= 4) {
            __m128d lo0 = _mm_loadu_pd(los), lo1 = _mm_loadu_pd(los + 2);
            __m128d hi0 = _mm_loadu_pd(his), hi1 = _mm_loadu_pd(his + 2);
            for (i = 4; i + 3 < n; i += 4) {
                lo0 = _mm_min_pd(lo0, _mm_loadu_pd(los + i));
                lo1 = _mm_min_pd(lo1, _mm_loadu_pd(los + i + 2));
                hi0 = _mm_max_pd(hi0, _mm_loadu_pd(his + i));
                hi1 = _mm_max_pd(hi1, _mm_loadu_pd(his + i + 2));
            }
            lo0 = _mm_min_pd(lo0, lo1);
            hi0 = _mm_max_pd(hi0, hi1);
            lo = std::min({lo, _mm_cvtsd_f64(lo0), _mm_cvtsd_f64(_mm_unpackhi_pd(lo0, lo0))});
            hi = std::max({hi, _mm_cvtsd_f64(hi0), _mm_cvtsd_f64(_mm_unpackhi_pd(hi0, hi0))});
        }
#endif
        for (; i < n; ++i) {
            lo = los[i] < lo ? los[i] : lo;
            hi = his[i] > hi ? his[i] : hi;
        }
    }
    // Any values; returns how many are not finite.
    std::uint32_t addChecked(const double* y, std::size_t n)
    {
        std::uint32_t bad = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const bool finite = std::fabs(y[i]) <= kLargest; // false for NaN, too
            lo = finite && y[i] < lo ? y[i] : lo;
            hi = finite && y[i] > hi ? y[i] : hi;
            bad += finite ? 0 : 1;
        }
        return bad;
    }
    void into(SeriesNode& node) const
    {
        node.lo = std::min(node.lo, lo);
        node.hi = std::max(node.hi, hi);
    }
};

std::uint32_t sum(const std::vector<std::uint16_t>& counts, std::size_t begin, std::size_t end)
{
    std::uint32_t total = 0;
    for (std::size_t i = begin; i < end; ++i)
        total += counts[i];
    return total;
}

} // namespace

void SeriesBlock::seal()
{
    constexpr std::size_t fan = kFan;
    const auto resize = [](Level& level, std::size_t n) {
        level.lo.resize(n);
        level.hi.resize(n);
        level.bad.resize(n);
    };
    resize(level1, (y.size() + fan - 1) / fan);
    for (std::size_t i = 0; i < level1.size(); ++i) {
        Extremes extremes;
        const std::uint32_t bad = extremes.addChecked(&y[i * fan], std::min(fan, y.size() - i * fan));
        SeriesNode node;
        extremes.into(node);
        level1.lo[i] = node.lo;
        level1.hi[i] = node.hi;
        level1.bad[i] = static_cast<std::uint16_t>(bad);
    }
    resize(level2, (level1.size() + fan - 1) / fan);
    all = {};
    for (std::size_t i = 0; i < level2.size(); ++i) {
        SeriesNode node;
        for (std::size_t k = i * fan; k < std::min(level1.size(), (i + 1) * fan); ++k)
            node.add(level1.node(k));
        level2.lo[i] = node.lo;
        level2.hi[i] = node.hi;
        level2.bad[i] = static_cast<std::uint16_t>(node.bad);
        all.add(node);
    }

    if (x.empty())
        return;
    first = x.front();
    stride = x.size() > 1 ? x[1] - x[0] : 1;
    if (stride <= 0)
        return;
    for (std::size_t i = 1; i < x.size(); ++i)
        if (x[i] - x[i - 1] != stride)
            return;
    std::vector<std::int64_t>().swap(x); // `x = {}` would keep the memory
}

void SeriesBlock::query(std::size_t begin, std::size_t end, SeriesNode& into) const
{
    const bool checked = all.bad > 0; // without NaN in the block no count is read
    Extremes extremes;
    std::uint32_t bad = 0;
    const auto values = [&](std::size_t from, std::size_t to) {
        if (checked)
            bad += extremes.addChecked(&y[from], to - from);
        else
            extremes.add(&y[from], &y[from], to - from);
    };
    const auto nodes = [&](const Level& level, std::size_t from, std::size_t to) {
        extremes.add(&level.lo[from], &level.hi[from], to - from);
        if (checked)
            bad += sum(level.bad, from, to);
    };
    const std::size_t begin1 = (begin + kFan - 1) / kFan, end1 = end / kFan;
    if (begin1 >= end1) {
        values(begin, end);
    } else {
        if (begin < begin1 * kFan)
            values(begin, begin1 * kFan);
        if (end1 * kFan < end)
            values(end1 * kFan, end);
        const std::size_t begin2 = (begin1 + kFan - 1) / kFan, end2 = end1 / kFan;
        if (begin2 >= end2) {
            nodes(level1, begin1, end1);
        } else {
            if (begin1 < begin2 * kFan)
                nodes(level1, begin1, begin2 * kFan);
            if (end2 * kFan < end1)
                nodes(level1, end2 * kFan, end1);
            nodes(level2, begin2, end2);
        }
    }
    extremes.into(into);
    into.bad += bad;
}

} // namespace lockstep
