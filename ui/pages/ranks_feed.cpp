#include "ui/pages/ranks_feed.h"

#include "ui/models/format.h"

#include <utility>

namespace lockstep {

RanksFeed::RanksFeed(QObject* parent) : QObject(parent)
{
    connect(&loader_, &SeriesLoader::rowsArrived, this,
            [this](const QString& id, const std::vector<SeriesRows>& rows, bool restart) {
                if (id == runId_)
                    append(rows, restart);
            });
    connect(&loader_, &SeriesLoader::problem, this,
            [this](const QString&, const QString& sentence) { Q_EMIT problem(sentence); });
}

void RanksFeed::setRun(const RunEntry* run, Quantity quantity)
{
    const QString id = run ? run->id() : QString();
    const QString folder = run ? qs(run->info.folder) : QString();
    if (id != runId_ || folder != folder_ || quantity != quantity_) {
        jobs_.cancel();
        othersJob_ = othersOutdated_ = false;
        fold_ = std::make_shared<RankFold>();
        picture_ = std::make_shared<const RankPicture>();
        others_ = {};
        if (id != runId_ || folder != folder_)
            chosen_ = -1;
        runId_ = id;
        folder_ = folder;
        quantity_ = quantity;
        Q_EMIT changed();
    }
    std::vector<SeriesRequest> requests;
    if (run)
        requests.push_back({id, folder, run->running(), {quantity}});
    if (requests != loader_.requests())
        loader_.setRequests(std::move(requests));
}

void RanksFeed::setChosenRank(int rank)
{
    if (rank == chosen_)
        return;
    chosen_ = rank;
    others_ = {};
    computeOthers();
}

void RanksFeed::append(std::vector<SeriesRows> rows, bool restart)
{
    if (restart)
        fold_ = std::make_shared<RankFold>();
    jobs_.startNext(
        [fold = fold_, rows = std::move(rows)](const JobToken&) {
            for (const SeriesRows& one : rows) {
                std::vector<double> values(one.rows->size());
                for (std::size_t i = 0; i < values.size(); ++i)
                    values[i] = one.rows->value(i);
                fold->append(one.key.rank, one.rows->steps, values);
            }
            return std::make_shared<const RankPicture>(fold->picture());
        },
        [this, fold = fold_](std::shared_ptr<const RankPicture> picture) {
            if (fold != fold_)
                return;
            picture_ = std::move(picture);
            computeOthers();
            Q_EMIT changed();
        });
}

void RanksFeed::computeOthers()
{
    if (chosen_ < 0 || picture_->ranks.size() < 2)
        return;
    if (othersJob_) {
        othersOutdated_ = true;
        return;
    }
    othersJob_ = true;
    jobs_.startNext(
        [picture = picture_, chosen = chosen_](const JobToken&) {
            std::vector<SeriesSnapshot::Ptr> others;
            for (std::size_t r = 0; r < picture->ranks.size(); ++r)
                if (picture->ranks[r] != chosen)
                    others.push_back(picture->values[r]);
            return rangeOf(others);
        },
        [this, chosen = chosen_](RankRange range) {
            othersJob_ = false;
            if (chosen == chosen_)
                others_ = std::move(range);
            if (std::exchange(othersOutdated_, false))
                computeOthers();
            Q_EMIT changed();
        });
}

} // namespace lockstep
