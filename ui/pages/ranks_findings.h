// What the distances of the ranks say, in numbers and sentences. No widget.
#pragma once

#include "ui/plots/rank_fold.h"

#include <QString>

#include <cstddef>
#include <optional>

namespace lockstep {

inline constexpr double kRankLimit = 6; // robust standard deviations

struct RankStep {
    int rank = 0;
    qint64 step = 0;
};

// The earliest step at which a rank lies beyond the limit.
std::optional<RankStep> firstBeyondLimit(const RankPicture& picture);
// The rank with most steps beyond the limit; -1: none has any.
int oddRank(const RankPicture& picture);
// "rank 11 is beyond limit 6 in 135 steps, first in step 105". Of at least one rank.
QString limitSentence(const RankPicture& picture);
// "17.7 robust sd below the median of the ranks, limit 6."
// Of two ranks: "Below the other rank by ...".
QString distanceSentence(double distance, std::size_t ranks);

QString rankName(int rank);

} // namespace lockstep
