// Does the same sample id bring the same content on every rank? One 64-bit hash per id, filled epoch by
// epoch.
#pragma once

#include "core/gates/epoch_order.h"
#include "core/gates/large_array.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace lockstep {

struct ContentConflict {
    std::uint32_t id = 0;
    int firstRank = 0;
    std::int64_t firstEpoch = 0;
    int rank = 0;
    std::int64_t epoch = 0;
    std::int64_t position = 0;
    std::uint64_t firstContent = 0;
    std::uint64_t content = 0;
    bool otherId =
        false; // same content under another id of another rank, instead of other content under the same id
    std::uint32_t firstId = 0;
};

class ContentTable
{
public:
    explicit ContentTable(std::int64_t datasetSize);

    void add(const EpochOrder& order);

    // After all epochs: moves the first example to the first use, in `firstEpoch`, of an id known to have two contents.
    void locateFirst(const EpochOrder& firstEpoch);

    bool judged() const { return compared_ > 0; }
    std::int64_t compared() const { return compared_; } // samples whose content was known
    std::int64_t conflicts() const { return conflicts_; }
    // Contents change from epoch to epoch on one rank: augmentation, nothing can be said across ranks by id.
    bool augmented() const { return augmented_; }
    const std::vector<ContentConflict>& examples() const { return examples_; }

private:
    void addRank(const EpochOrder& order, std::size_t rank);
    void findForeignContents(const EpochOrder& order);

    struct Seen {
        std::uint64_t content;
        std::int32_t epoch; // + 1; 0: not seen
        std::int32_t rank;
        std::int32_t otherRank; // + 1: a rank that had other content under this id; 0: none
        std::uint64_t otherContent;
    };
    LargeArray<Seen> seen_;
    std::int64_t compared_ = 0;
    std::int64_t conflicts_ = 0;
    bool augmented_ = false;
    bool anyEpoch_ = false;
    std::vector<ContentConflict> examples_;
};

} // namespace lockstep
