#include "core/gates/coverage.h"

#include "core/gates/large_array.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <future>
#include <unordered_map>

namespace lockstep {

namespace {

// Fingerprint of a sequence: Horner's rule modulo 2^64, one multiplication per id. Equal sequences of different ranks or
// epochs are found by it; it is never stored.
constexpr std::uint64_t kSequenceFactor = 0x9e3779b97f4a7c15ULL;

std::uint64_t extend(std::uint64_t sequence, std::uint32_t id)
{
    return sequence * kSequenceFactor + id + 1;
}

std::uint64_t factorPower(std::size_t exponent)
{
    std::uint64_t power = 1;
    for (std::uint64_t base = kSequenceFactor; exponent != 0; exponent >>= 1, base *= base)
        if (exponent & 1)
            power *= base;
    return power;
}

class Bitmap
{
public:
    explicit Bitmap(std::size_t bits) : words_((bits + 63) / 64) {}

    bool test(std::uint32_t i) const { return words_[i >> 6] >> (i & 63) & 1; }
    void set(std::uint32_t i) { words_[i >> 6] |= std::uint64_t(1) << (i & 63); }
    void clear(std::uint32_t i) { words_[i >> 6] &= ~(std::uint64_t(1) << (i & 63)); }
    // Sets bit i and tells whether it was set before.
    bool exchange(std::uint32_t i)
    {
        std::uint64_t& word = words_[i >> 6];
        const std::uint64_t bit = std::uint64_t(1) << (i & 63);
        const bool before = word & bit;
        word |= bit;
        return before;
    }
    void prefetch(std::uint32_t i) const { __builtin_prefetch(&words_[i >> 6], 1); }
    std::int64_t population() const
    {
        std::int64_t sum = 0;
        for (std::size_t w = 0; w < words_.size(); ++w)
            sum += std::popcount(words_[w]);
        return sum;
    }
    // Adds the other bitmap; returns how many bits both had.
    std::int64_t merge(const Bitmap& other)
    {
        std::int64_t common = 0;
        for (std::size_t w = 0; w < words_.size(); ++w) {
            common += std::popcount(words_[w] & other.words_[w]);
            words_[w] |= other.words_[w];
        }
        return common;
    }
    const LargeArray<std::uint64_t>& words() const { return words_; }

private:
    LargeArray<std::uint64_t> words_;
};

std::vector<std::uint32_t> zeroBits(const Bitmap& bitmap, std::int64_t bits, std::size_t limit)
{
    std::vector<std::uint32_t> zeros;
    for (std::size_t w = 0; w < bitmap.words().size() && zeros.size() < limit; ++w)
        for (std::uint64_t left = ~bitmap.words()[w]; left != 0 && zeros.size() < limit; left &= left - 1) {
            const auto bit = std::int64_t(w * 64) + std::countr_zero(left);
            if (bit < bits)
                zeros.push_back(std::uint32_t(bit));
        }
    return zeros;
}

// What one sweep over rows [begin, end) of a dealt order finds.
struct Sweep {
    Bitmap seen;
    std::int64_t repeats = 0;
    std::int64_t outOfRange = 0;
    std::size_t positions = 0;
    std::vector<std::uint64_t> sequences;
};

// Rows of a dealt order in memory order; positions begin..end of every rank.
Sweep sweepDealt(const EpochOrder& order, std::int64_t datasetSize, std::size_t begin, std::size_t end,
                 std::size_t plainRows)
{
    Sweep sweep{Bitmap(std::size_t(datasetSize)), 0, 0, end - begin,
                std::vector<std::uint64_t>(order.ranks.size())};
    const std::uint32_t* ids = order.ranks.front().ids;
    const std::size_t world = order.ranks.size();
    std::uint64_t* sequences = sweep.sequences.data();
    for (std::size_t position = begin; position < end; ++position) {
        const std::uint32_t* row = ids + position * world;
        for (std::size_t r = 0; r < world; ++r)
            sequences[r] = extend(sequences[r], row[r]);
    }
    const auto limit = std::uint32_t(datasetSize);
    const std::size_t last = std::min(end * world, plainRows);
    constexpr std::size_t ahead = 32; // the bitmap lies beyond the second-level cache
    std::int64_t repeats = 0;
    for (std::size_t i = begin * world; i < last; ++i) {
        if (i + ahead < last && ids[i + ahead] < limit)
            sweep.seen.prefetch(ids[i + ahead]);
        if (ids[i] < limit)
            repeats += sweep.seen.exchange(ids[i]);
        else
            ++sweep.outOfRange;
    }
    sweep.repeats = repeats;
    return sweep;
}

// Rows with a place at or behind `datasetSize` in dealing order are padding if they repeat the head.
class PaddingRule
{
public:
    PaddingRule(const EpochOrder& order, std::int64_t datasetSize) : order_(order), size_(datasetSize)
    {
        const auto world = std::int64_t(order.ranks.size());
        const std::int64_t whole = (datasetSize + world - 1) / world;
        padded_ = datasetSize > 0 && datasetSize % world != 0 &&
                  std::all_of(order.ranks.begin(), order.ranks.end(),
                              [whole](const RankIds& r) { return std::int64_t(r.count) == whole; });
    }
    bool isPadding(int rank, std::int64_t position) const
    {
        const auto world = std::int64_t(order_.ranks.size());
        const std::int64_t place = position * world + rank;
        if (!padded_ || place < size_)
            return false;
        const std::int64_t head = place % size_;
        return order_.ranks[std::size_t(rank)][std::size_t(position)] ==
               order_.ranks[std::size_t(head % world)][std::size_t(head / world)];
    }
    // Every row that isPadding, in dealing order.
    template<typename Visit>
    void each(Visit&& visit) const
    {
        if (!padded_)
            return;
        const auto world = std::int64_t(order_.ranks.size());
        const auto rows = std::int64_t(order_.rows());
        for (std::int64_t place = size_; place < rows; ++place)
            if (isPadding(int(place % world), place / world))
                visit(place, place % size_);
    }

private:
    const EpochOrder& order_;
    std::int64_t size_;
    bool padded_ = false;
};

void listPadding(const PaddingRule& rule, const EpochOrder& order, EpochCoverage& coverage)
{
    const auto world = std::int64_t(order.ranks.size());
    rule.each([&](std::int64_t place, std::int64_t head) {
        ++coverage.padding;
        if (coverage.paddings.size() < EpochCoverage::kExamples)
            coverage.paddings.push_back({order.ranks[std::size_t(place % world)][std::size_t(place / world)],
                                         int(head % world), head / world, int(place % world), place / world});
    });
}

// First places of the ids that occur again, for at most kExamples of them; a second sweep that only a fault
// pays for.
void locateRepeats(const EpochOrder& order, std::int64_t datasetSize, const PaddingRule& rule,
                   const Bitmap& again, EpochCoverage& coverage)
{
    std::size_t longest = 0;
    for (const RankIds& rank : order.ranks)
        longest = std::max(longest, rank.count);
    std::unordered_map<std::uint32_t, std::pair<int, std::int64_t>> first;
    for (std::size_t position = 0; position < longest; ++position) {
        for (std::size_t r = 0; r < order.ranks.size(); ++r) {
            const RankIds& rank = order.ranks[r];
            if (position >= rank.count)
                continue;
            const std::uint32_t id = rank[position];
            if (id >= datasetSize || !again.test(id) || rule.isPadding(int(r), std::int64_t(position)))
                continue;
            const auto [it, isNew] = first.try_emplace(id, int(r), std::int64_t(position));
            if (!isNew)
                coverage.repeats.push_back(
                    {id, it->second.first, it->second.second, int(r), std::int64_t(position)});
            if (coverage.repeats.size() == EpochCoverage::kExamples)
                return;
        }
    }
}

// The thorough way, rank by rank: tells repeats inside a rank from ids on several ranks.
Bitmap coverByRank(const EpochOrder& order, std::int64_t datasetSize, const PaddingRule& rule,
                   EpochCoverage& coverage)
{
    Bitmap seen{std::size_t(datasetSize)}, shared{std::size_t(datasetSize)}, own{std::size_t(datasetSize)};
    Bitmap again{std::size_t(datasetSize)};
    for (std::size_t r = 0; r < order.ranks.size(); ++r) {
        const RankIds& rank = order.ranks[r];
        for (std::size_t p = 0; p < rank.count; ++p) {
            const std::uint32_t id = rank[p];
            coverage.sequences[r] = extend(coverage.sequences[r], id);
            if (id >= datasetSize) {
                ++coverage.outOfRange;
                continue;
            }
            if (rule.isPadding(int(r), std::int64_t(p)))
                continue;
            if (own.exchange(id)) {
                ++coverage.repeatedInRank;
                again.set(id);
            } else if (seen.exchange(id)) {
                shared.set(id);
                again.set(id);
            }
        }
        for (std::size_t p = 0; p < rank.count; ++p)
            if (rank[p] < datasetSize)
                own.clear(rank[p]);
    }
    coverage.overlapped = shared.population();
    if (coverage.overlapped + coverage.repeatedInRank > 0)
        locateRepeats(order, datasetSize, rule, again, coverage);
    return seen;
}

} // namespace

std::int64_t expectedPadding(std::int64_t datasetSize, int world, bool dropLast)
{
    return dropLast ? 0 : (world - datasetSize % world) % world;
}

EpochCoverage coverEpoch(const EpochOrder& order, std::int64_t datasetSize, int threads)
{
    assert(!order.ranks.empty());
    EpochCoverage coverage;
    coverage.epoch = order.epoch;
    coverage.rows = std::int64_t(order.rows());
    for (const RankIds& rank : order.ranks)
        coverage.counts.push_back(std::int64_t(rank.count));
    coverage.sequences.assign(order.ranks.size(), 0);
    const PaddingRule rule(order, datasetSize);
    listPadding(rule, order, coverage);

    Bitmap seen(0);
    bool clean = false;
    if (order.dealt && coverage.padding == std::max<std::int64_t>(0, coverage.rows - datasetSize)) {
        // Every row behind the dataset is padding: the sweep looks at the rows before it only.
        const std::size_t positions = order.ranks.front().count;
        const auto plainRows = std::size_t(coverage.rows - coverage.padding);
        const std::size_t parts =
            std::clamp<std::size_t>(std::size_t(threads), 1, std::max<std::size_t>(1, plainRows >> 20));
        std::vector<std::future<Sweep>> others;
        for (std::size_t t = 1; t < parts; ++t)
            others.push_back(std::async(std::launch::async, sweepDealt, std::cref(order), datasetSize,
                                        positions * t / parts, positions * (t + 1) / parts, plainRows));
        Sweep sum = sweepDealt(order, datasetSize, 0, positions / parts, plainRows);
        for (std::future<Sweep>& other : others) {
            const Sweep part = other.get();
            sum.repeats += part.repeats + sum.seen.merge(part.seen);
            sum.outOfRange += part.outOfRange;
            const std::uint64_t shift = factorPower(part.positions);
            for (std::size_t r = 0; r < sum.sequences.size(); ++r)
                sum.sequences[r] = sum.sequences[r] * shift + part.sequences[r];
        }
        clean = sum.repeats == 0;
        if (clean) {
            coverage.sequences = std::move(sum.sequences);
            coverage.outOfRange = sum.outOfRange;
        }
        seen = std::move(sum.seen);
    }
    if (!clean)
        seen = coverByRank(order, datasetSize, rule, coverage);
    coverage.distinct = seen.population();
    coverage.omitted = datasetSize - coverage.distinct;
    coverage.omissions = zeroBits(seen, datasetSize, EpochCoverage::kExamples);
    coverage.ranksIdentical = order.ranks.size() > 1 && coverage.counts.front() > 0 &&
                              std::all_of(coverage.counts.begin(), coverage.counts.end(),
                                          [&](std::int64_t n) { return n == coverage.counts.front(); }) &&
                              std::all_of(coverage.sequences.begin(), coverage.sequences.end(),
                                          [&](std::uint64_t s) { return s == coverage.sequences.front(); });
    return coverage;
}

} // namespace lockstep
