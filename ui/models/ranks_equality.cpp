#include "ui/models/ranks_equality.h"

#include <algorithm>
#include <array>
#include <optional>

namespace lockstep {

namespace {

constexpr std::array kQuantities = {Quantity::ParamFingerprint, Quantity::OptimizerFingerprint,
                                    Quantity::BufferFingerprint, Quantity::SampleIds, Quantity::RngCpu};

RankEquality::Rule ruleOf(Quantity quantity, bool sharded)
{
    switch (quantity) {
    case Quantity::ParamFingerprint:
    case Quantity::OptimizerFingerprint:
        return sharded ? RankEquality::Rule::Told : RankEquality::Rule::Equal;
    case Quantity::SampleIds:
        return RankEquality::Rule::Distinct;
    default: // BatchNorm's running values are each rank's own between two steps; generators may be seeded either way
        return RankEquality::Rule::Told;
    }
}

} // namespace

std::span<const Quantity> RanksEqualityScan::quantities()
{
    return kQuantities;
}

void RanksEqualityScan::append(const SeriesKey& key, std::span<const std::int64_t> steps,
                               std::span<const std::uint64_t> bits)
{
    if (steps.empty())
        return;
    Track& track = tracks_[key.quantity];
    std::deque<Value>& waiting = track.waiting[key.rank];
    for (std::size_t i = 0; i < steps.size(); ++i)
        waiting.push_back({steps[i], bits[i]});
    track.reached[key.rank] = steps.back();
}

// Takes the values of this step off all ranks.
void RanksEqualityScan::compareStep(Track& track, std::int64_t step)
{
    std::vector<std::pair<std::uint64_t, int>> values; // bits, rank
    for (auto& [rank, waiting] : track.waiting) {
        if (waiting.empty() || waiting.front().step != step)
            continue;
        values.emplace_back(waiting.front().bits, rank);
        waiting.pop_front();
    }
    if (values.size() < 2)
        return;
    RankEquality& found = track.found;
    ++found.steps;
    const bool done = found.firstDifferent >= 0 && found.firstRepeated >= 0;
    const bool equal = std::all_of(values.begin(), values.end(),
                                   [&](const auto& value) { return value.first == values.front().first; });
    if (done || (equal && found.firstRepeated >= 0))
        return;
    std::map<std::uint64_t, std::vector<int>> groups;
    for (const auto& [bits, rank] : values)
        groups[bits].push_back(rank);
    // The majority; of equally large groups the one with the lowest rank.
    const auto most = std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
        return a.second.size() != b.second.size() ? a.second.size() < b.second.size()
                                                  : a.second.front() > b.second.front();
    });
    if (found.firstDifferent < 0 && groups.size() > 1) {
        found.firstDifferent = step;
        found.differentRank = INT32_MAX;
        found.differentRanks = int(values.size() - most->second.size());
        for (auto it = groups.begin(); it != groups.end(); ++it)
            if (it != most)
                found.differentRank = std::min(found.differentRank, it->second.front());
    }
    if (found.firstRepeated < 0 && most->second.size() > 1) {
        found.firstRepeated = step;
        found.repeatedOf = most->second[0];
        found.repeatedRank = most->second[1];
    }
}

void RanksEqualityScan::compare(int ranks, bool ended)
{
    for (auto& [quantity, track] : tracks_) {
        if (!ended && int(track.reached.size()) < ranks)
            continue;
        std::int64_t until = INT64_MAX;
        if (!ended)
            for (const auto& [rank, step] : track.reached)
                until = std::min(until, step);
        for (;;) {
            std::optional<std::int64_t> step;
            for (const auto& [rank, waiting] : track.waiting)
                if (!waiting.empty() && (!step || waiting.front().step < *step))
                    step = waiting.front().step;
            if (!step || *step > until)
                break;
            compareStep(track, *step);
        }
    }
}

std::vector<RankEquality> RanksEqualityScan::result(bool sharded) const
{
    std::vector<RankEquality> rows;
    for (const Quantity quantity : kQuantities) {
        const auto track = tracks_.find(quantity);
        if (track == tracks_.end())
            continue;
        RankEquality row = track->second.found;
        row.quantity = quantity;
        row.rule = ruleOf(quantity, sharded);
        row.ranks = int(track->second.reached.size());
        rows.push_back(row);
    }
    return rows;
}

} // namespace lockstep
