#include "core/gates/content_table.h"

#include <algorithm>
#include <utility>

namespace lockstep {

namespace {

constexpr std::size_t kExamples = 16;

} // namespace

ContentTable::ContentTable(std::int64_t datasetSize) : seen_(std::size_t(datasetSize))
{
}

void ContentTable::addRank(const EpochOrder& order, std::size_t r)
{
    const RankIds& rank = order.ranks[r];
    for (std::size_t p = 0; p < rank.count; ++p) {
        const std::uint32_t id = rank[p];
        if (id >= seen_.size())
            continue;
        Seen& seen = seen_[id];
        const std::uint64_t content = rank.content(p);
        ++compared_;
        if (seen.epoch == 0) {
            seen = {content, std::int32_t(order.epoch + 1), std::int32_t(r), 0, 0};
        } else if (seen.content != content) {
            if (seen.rank == std::int32_t(r)) {
                augmented_ = true;
                continue;
            }
            ++conflicts_;
            seen.otherRank = std::int32_t(r + 1);
            seen.otherContent = content;
            if (examples_.size() < kExamples)
                examples_.push_back({id, seen.rank, seen.epoch - 1, int(r), order.epoch, std::int64_t(p),
                                     seen.content, content, false, id});
        }
    }
}

// Ids that agree prove nothing within one epoch, where every id comes once. But a dataset whose contents are
// all different on each rank and repeat across ranks was listed in another order there.
void ContentTable::findForeignContents(const EpochOrder& order)
{
    struct Place {
        std::uint32_t id;
        std::int32_t rank;
    };
    std::unordered_map<std::uint64_t, Place> places;
    std::vector<ContentConflict> found;
    std::int64_t foreign = 0;
    std::size_t longest = 0;
    for (const RankIds& rank : order.ranks)
        longest = std::max(longest, rank.count);
    for (std::size_t p = 0; p < longest; ++p) {
        for (std::size_t r = 0; r < order.ranks.size(); ++r) {
            const RankIds& rank = order.ranks[r];
            if (p >= rank.count)
                continue;
            const auto [it, isNew] = places.try_emplace(rank.content(p), Place{rank[p], std::int32_t(r)});
            if (isNew || it->second.id == rank[p])
                continue;
            if (it->second.rank == std::int32_t(r))
                return; // the dataset repeats contents by itself
            ++foreign;
            if (found.size() < kExamples)
                found.push_back({rank[p], it->second.rank, order.epoch, int(r), order.epoch, std::int64_t(p),
                                 rank.content(p), rank.content(p), true, it->second.id});
        }
    }
    conflicts_ += foreign;
    examples_.insert(examples_.end(), found.begin(), found.end());
    std::stable_sort(examples_.begin(), examples_.end(),
                     [](const ContentConflict& a, const ContentConflict& b) {
                         return std::pair(a.epoch, a.position) < std::pair(b.epoch, b.position);
                     });
    examples_.resize(std::min(examples_.size(), kExamples));
}

void ContentTable::locateFirst(const EpochOrder& firstEpoch)
{
    std::size_t longest = 0;
    for (const RankIds& rank : firstEpoch.ranks)
        longest = std::max(longest, rank.count);
    for (std::size_t p = 0; p < longest; ++p)
        for (std::size_t r = 0; r < firstEpoch.ranks.size(); ++r) {
            const RankIds& rank = firstEpoch.ranks[r];
            if (p >= rank.count || rank[p] >= seen_.size() || seen_[rank[p]].otherRank == 0)
                continue;
            const Seen& seen = seen_[rank[p]];
            examples_.insert(examples_.begin(),
                             {rank[p], seen.otherRank - 1, firstEpoch.epoch, int(r), firstEpoch.epoch,
                              std::int64_t(p), seen.otherContent, rank.content(p), false, rank[p]});
            return;
        }
}

void ContentTable::add(const EpochOrder& order)
{
    const bool known = std::all_of(order.ranks.begin(), order.ranks.end(),
                                   [](const RankIds& r) { return r.count == 0 || r.contents != nullptr; });
    if (!known)
        return;
    for (std::size_t r = 0; r < order.ranks.size(); ++r)
        addRank(order, r);
    // The first epoch tells the first step; later ones are asked only while nothing is known.
    const bool first = !std::exchange(anyEpoch_, true);
    if ((first || conflicts_ == 0) && !augmented_)
        findForeignContents(order);
}

} // namespace lockstep
