#include "core/logs/rank_groups.h"

#include "core/logs/hidden_nan.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace lockstep {

namespace {

struct RunParts {
    const LogRun* about = nullptr;
    std::vector<const LogSeries*> series;
    std::optional<int> rank; // where all series have the same
};

std::vector<RunParts> partsOf(const LogData& data)
{
    std::vector<RunParts> all;
    for (const LogRun& run : data.runs)
        all.push_back({&run, {}, std::nullopt});
    // Series come run after run, in the order of the runs.
    std::size_t at = 0;
    for (const LogSeries& series : data.series) {
        while (at + 1 < all.size() && all[at].about->run != series.run)
            ++at;
        all[at].series.push_back(&series);
    }
    for (RunParts& run : all) {
        std::set<std::optional<int>> ranks;
        for (const LogSeries* series : run.series)
            ranks.insert(series->rank);
        if (ranks.size() == 1)
            run.rank = *ranks.begin();
    }
    return all;
}

// "exp/rank_3/tb" -> "exp/tb".
std::string withoutRankFolder(const std::string& path, int rank)
{
    std::string kept;
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        const std::string folder = path.substr(at, end - at);
        const std::string number = std::to_string(rank);
        if (folder != "rank_" + number && folder != "rank-" + number && folder != "rank" + number)
            kept += (kept.empty() ? "" : "/") + folder;
        at = end + 1;
    }
    return kept;
}

// "srank3" -> "srank", "toy-rank-3" -> "toy-rank".
std::string withoutRankAtEnd(std::string name, int rank)
{
    const std::string number = std::to_string(rank);
    if (!name.ends_with(number))
        return name;
    name.resize(name.size() - number.size());
    name.erase(name.find_last_not_of("-_. ") + 1);
    return name;
}

// What the runs of all ranks are called alike.
std::string withoutRank(const RunParts& run)
{
    const LogRun& about = *run.about;
    const bool named = about.format == "wandb" || about.format == "trackio";
    return named ? withoutRankAtEnd(about.run, *run.rank) : withoutRankFolder(about.run, *run.rank);
}

// Runs with the same key may be ranks of one training.
std::string keyOf(const RunParts& run)
{
    return run.about->group.empty() ? withoutRank(run) : run.about->group;
}

} // namespace

std::vector<LogGroup> rankGroups(const LogData& data)
{
    std::vector<LogGroup> groups;
    std::map<std::pair<std::string, std::string>, std::pair<std::size_t, std::set<int>>>
        byKey; // format, key -> group, its ranks
    for (const RunParts& run : partsOf(data)) {
        if (run.rank) {
            const std::string key = keyOf(run);
            const auto [found, added] =
                byKey.try_emplace({run.about->format, key}, std::pair(groups.size(), std::set<int>()));
            auto& [group, ranks] = found->second;
            if (ranks.insert(*run.rank).second && !added) {
                LogGroup& joined = groups[group];
                joined.series.insert(joined.series.end(), run.series.begin(), run.series.end());
                joined.about.run = withoutRank(run);
                joined.about.name = key;
                continue;
            }
        }
        groups.push_back({*run.about, run.series, {}});
    }
    for (LogGroup& group : groups)
        group.hiddenNanSteps = logs::hiddenNanSteps(group.series);
    return groups;
}

} // namespace lockstep
