#include "ui/pages/ranks_findings.h"

#include <QCoreApplication>

#include <cmath>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::RanksPage)
};

} // namespace

std::optional<RankStep> firstBeyondLimit(const RankPicture& picture)
{
    std::optional<RankStep> first;
    for (std::size_t r = 0; r < picture.ranks.size(); ++r) {
        const SeriesSnapshot& distances = *picture.distances[r];
        const std::size_t at = distances.firstOutside(-kRankLimit, kRankLimit);
        if (at < distances.size() && (!first || distances.step(at) < first->step))
            first = RankStep{picture.ranks[r], distances.step(at)};
    }
    return first;
}

int oddRank(const RankPicture& picture)
{
    std::size_t most = 0;
    int odd = -1;
    for (std::size_t r = 0; r < picture.ranks.size(); ++r) {
        const std::size_t beyond = picture.distances[r]->countOutside(-kRankLimit, kRankLimit);
        if (beyond > most) {
            most = beyond;
            odd = picture.ranks[r];
        }
    }
    return odd;
}

QString limitSentence(const RankPicture& picture)
{
    const std::optional<RankStep> first = firstBeyondLimit(picture);
    if (!first)
        return Tr::tr("no cell of %n rank(s) beyond limit %1", nullptr, int(picture.ranks.size()))
            .arg(kRankLimit);
    int odd = 0, steps = 0;
    for (const SeriesSnapshot::Ptr& distances : picture.distances) {
        const std::size_t beyond = distances->countOutside(-kRankLimit, kRankLimit);
        odd += beyond > 0;
        steps += int(beyond);
    }
    if (odd == 1)
        return Tr::tr("rank %1 is beyond limit %2 in %n step(s), first in step %3", nullptr, steps)
            .arg(first->rank)
            .arg(kRankLimit)
            .arg(first->step);
    return Tr::tr("%1 of %2 ranks go beyond limit %3, the first is rank %4 in step %5")
        .arg(odd)
        .arg(picture.ranks.size())
        .arg(kRankLimit)
        .arg(first->rank)
        .arg(first->step);
}

QString distanceSentence(double distance, std::size_t ranks)
{
    if (!std::isfinite(distance))
        return Tr::tr("Not a finite number: it has no distance to the median.");
    const QString size = QString::number(std::fabs(distance), std::fabs(distance) < 1e4 ? 'f' : 'e', 1);
    if (ranks == 2)
        return (distance < 0
                    ? Tr::tr("Below the other rank by %1 robust sd of what both move by per step, limit %2.")
                    : Tr::tr("Above the other rank by %1 robust sd of what both move by per step, limit %2."))
            .arg(size)
            .arg(kRankLimit);
    return (distance < 0 ? Tr::tr("%1 robust sd below the median of the ranks, limit %2.")
                         : Tr::tr("%1 robust sd above the median of the ranks, limit %2."))
        .arg(size)
        .arg(kRankLimit);
}

QString rankName(int rank)
{
    return Tr::tr("rank %1").arg(rank);
}

} // namespace lockstep
