#include "core/align/diagnose/contents.h"

#include "core/align/diagnose/epoch_ids.h"

#include <algorithm>

namespace lockstep::align {

Contents contentsAt(const Case& c, std::int64_t step)
{
    std::map<std::int64_t, std::set<std::uint64_t>> ofId;
    std::set<std::uint64_t> all;
    const auto each = [](const RunTrace& run, std::int64_t from, std::int64_t to, auto&& take) {
        for (const int rank : run.ranks())
            for (const RunTrace::StepSamples& s : run.samples(rank, from, to))
                for (std::size_t i = 0; i < std::min(s.ids.size(), s.hashes.size()); ++i)
                    take(s.ids[i], s.hashes[i]);
    };
    each(c.ref(), 1, std::min(c.ref().lastStep(), step + kEpochWindow) + 1,
         [&](std::int64_t id, std::uint64_t hash) {
             ofId[id].insert(hash);
             all.insert(hash);
         });
    Contents found;
    found.randomised =
        std::any_of(ofId.begin(), ofId.end(), [](const auto& entry) { return entry.second.size() > 1; });
    each(c.sus(), step, step + 1, [&](std::int64_t id, std::uint64_t hash) {
        if (ofId[id].contains(hash))
            return;
        ++found.differ;
        found.known += all.contains(hash);
    });
    return found;
}

} // namespace lockstep::align
