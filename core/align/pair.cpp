#include "core/align/pair.h"

#include "core/align/track.h"
#include "core/base/fingerprint.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace lockstep {

namespace {

using align::RunView;

// step -> what it is recognised by, in step order.
using Keys = std::vector<std::pair<std::int64_t, std::uint64_t>>;

Result<Keys> samplesSeen(const RunView& run)
{
    Keys keys;
    if (run.ranks.empty())
        return keys;
    const Result<SeriesData> seen = run.reader->read({run.ranks.front(), Quantity::SamplesSeen, 0});
    if (!seen.ok())
        return seen.error();
    for (std::size_t i = 0; i < seen->size(); ++i)
        keys.emplace_back(seen->steps[i], seen->bits[i]);
    return keys;
}

Result<Keys> sampleSets(const RunView& run)
{
    std::map<std::int64_t, std::vector<std::int64_t>> ids;
    for (const int rank : run.ranks) {
        const Result<std::vector<SamplesRecord>> records = run.reader->samples(rank, 0, run.lastStep + 1);
        if (!records.ok())
            return records.error();
        for (const SamplesRecord& record : *records)
            ids[record.step].insert(ids[record.step].end(), record.ids.begin(), record.ids.end());
    }
    Keys keys;
    for (auto& [step, set] : ids) {
        std::sort(set.begin(), set.end());
        keys.emplace_back(step, fingerprint(set.data(), set.size(), 8));
    }
    return keys;
}

Result<Keys> recordedSteps(const RunView& run)
{
    // The longest series of the first rank stands for all: every step has a loss or a fingerprint.
    Keys keys;
    std::vector<std::int64_t> steps;
    for (const SeriesInfo& info : run.series) {
        if (info.key.rank != run.ranks.front() || info.points <= std::int64_t(steps.size()))
            continue;
        Result<SeriesData> data = run.reader->read(info.key);
        if (!data.ok())
            return data.error();
        steps = std::move(data->steps);
    }
    for (const std::int64_t step : steps)
        keys.emplace_back(step, std::uint64_t(step));
    return keys;
}

Result<Keys> keysOf(const RunView& run, PairBy by)
{
    if (run.ranks.empty())
        return Keys();
    switch (by) {
    case PairBy::Samples:
        return samplesSeen(run);
    case PairBy::Id:
        return sampleSets(run);
    default:
        return recordedSteps(run);
    }
}

} // namespace

Result<PairBy> parsePairBy(const std::string& text)
{
    for (const PairBy by : {PairBy::Step, PairBy::Samples, PairBy::Id}) {
        if (text == pairByName(by))
            return by;
    }
    return Error{ErrorKind::Usage, "\"" + text + "\" is not a way to pair steps",
                 "it must be step, samples or id", "Write for instance --by step"};
}

const char* pairByName(PairBy by)
{
    return by == PairBy::Step ? "step" : by == PairBy::Samples ? "samples" : "id";
}

Result<std::vector<StepPair>> pairSteps(RunReader& a, RunReader& b, PairBy by)
{
    const Result<RunView> viewA = align::viewRun(a);
    if (!viewA.ok())
        return viewA.error();
    const Result<RunView> viewB = align::viewRun(b);
    if (!viewB.ok())
        return viewB.error();
    const Result<Keys> keysA = keysOf(*viewA, by);
    if (!keysA.ok())
        return keysA.error();
    const Result<Keys> keysB = keysOf(*viewB, by);
    if (!keysB.ok())
        return keysB.error();
    std::unordered_map<std::uint64_t, std::vector<std::int64_t>> stepsOfB;
    for (const auto& [step, key] : *keysB)
        stepsOfB[key].push_back(step);
    std::unordered_map<std::uint64_t, std::size_t> used;
    std::vector<StepPair> pairs;
    for (const auto& [step, key] : *keysA) {
        const auto steps = stepsOfB.find(key);
        if (steps == stepsOfB.end())
            continue;
        const std::size_t use = used[key]++;
        if (use < steps->second.size())
            pairs.push_back({step, steps->second[use]});
    }
    return pairs;
}

std::vector<int> recordedRanks(const std::vector<SeriesInfo>& series)
{
    std::vector<int> ranks;
    for (const SeriesInfo& info : series)
        ranks.push_back(info.key.rank);
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
}

} // namespace lockstep
