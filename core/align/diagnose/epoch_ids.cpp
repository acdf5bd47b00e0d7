#include "core/align/diagnose/epoch_ids.h"

#include <algorithm>
#include <map>

namespace lockstep::align {

namespace {

EpochIds collect(const RunTrace& run, std::int64_t epoch)
{
    EpochIds ids;
    const int first = run.ranks().front();
    const std::vector<std::int64_t>& steps = run.steps(first, Quantity::Epoch);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool inside = run.value(first, Quantity::Epoch, steps[i]) == double(epoch);
        if (inside && ids.firstStep < 0)
            ids.firstStep = steps[i];
        if (inside && (ids.lastStep < 0 || steps[i] == ids.lastStep + 1))
            ids.lastStep = steps[i];
        else if (!inside && ids.firstStep >= 0) {
            ids.complete = true;
            break;
        }
    }
    if (ids.firstStep < 0)
        return ids;
    ids.epoch = epoch;
    for (const EventRecord& event : run.events())
        ids.complete = ids.complete || (event.kind == "epoch_end" && event.step == ids.lastStep);
    const std::int64_t to = std::min(ids.lastStep, ids.firstStep + kEpochWindow - 1);
    ids.complete = ids.complete && to == ids.lastStep;
    for (const int rank : run.ranks()) {
        std::vector<std::int64_t>& own = ids.ranks.emplace_back();
        std::vector<std::uint64_t>& hashes = ids.hashes.emplace_back();
        for (const RunTrace::StepSamples& step : run.samples(rank, ids.firstStep, to + 1)) {
            own.insert(own.end(), step.ids.begin(), step.ids.end());
            hashes.insert(hashes.end(), step.hashes.begin(), step.hashes.end());
        }
        if (own.empty()) // a stream: what a sample is stands for its id
            for (const std::uint64_t hash : hashes)
                own.push_back(std::int64_t(hash >> 1));
        ids.all.insert(own.begin(), own.end());
    }
    return ids;
}

} // namespace

std::size_t EpochIds::count() const
{
    std::size_t count = 0;
    for (const auto& own : ranks)
        count += own.size();
    return count;
}

// A padded tail starts again at the head: one descent is no disorder.
bool EpochIds::ascending() const
{
    for (const auto& own : ranks) {
        std::size_t descents = 0;
        for (std::size_t i = 1; i < own.size(); ++i)
            descents += own[i] < own[i - 1];
        if (own.size() < 3 || descents > 1)
            return false;
    }
    return !ranks.empty();
}

bool EpochIds::sameOnRanks() const
{
    return ranks.size() > 1 && !ranks.front().empty() &&
           std::all_of(ranks.begin(), ranks.end(), [this](const auto& own) { return own == ranks.front(); });
}

std::size_t EpochIds::shared() const
{
    std::map<std::int64_t, std::set<std::size_t>> owners;
    for (std::size_t r = 0; r < ranks.size(); ++r)
        for (const std::int64_t id : ranks[r])
            owners[id].insert(r);
    return std::size_t(
        std::count_if(owners.begin(), owners.end(), [](const auto& o) { return o.second.size() > 1; }));
}

EpochIds epochAt(const RunTrace& run, std::int64_t step)
{
    const auto epoch = run.value(run.ranks().front(), Quantity::Epoch, step);
    return epoch ? collect(run, std::int64_t(*epoch)) : EpochIds();
}

EpochIds epochNumber(const RunTrace& run, std::int64_t epoch)
{
    return collect(run, epoch);
}

} // namespace lockstep::align
