#include "ui/pages/curve_feed.h"

#include <set>
#include <utility>

namespace lockstep {

struct CurveFeed::Builder {
    RunCurves curves;

    RunCurvesPtr append(const std::vector<SeriesRows>& rows, bool restart)
    {
        if (restart)
            curves = {};
        std::set<Quantity> touched;
        for (const SeriesRows& one : rows) {
            std::vector<double> values(one.rows->size());
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = one.rows->value(i);
            SeriesSnapshot::Ptr& series = curves.series[one.key];
            series = series ? series->appended(one.rows->steps, values)
                            : SeriesSnapshot::fromSteps(one.rows->steps, values);
            touched.insert(one.key.quantity);
        }
        for (const Quantity quantity : touched) {
            std::vector<SeriesSnapshot::Ptr> all;
            std::vector<int> ranks;
            for (const auto& [key, series] : curves.series) {
                if (key.quantity != quantity)
                    continue;
                all.push_back(series);
                ranks.push_back(key.rank);
            }
            curves.spread[quantity] = all.size() == 1 ? RankSpread{all[0], all[0], all[0]} : spreadOf(all);
            curves.ranks[quantity] = std::move(ranks);
        }
        return std::make_shared<const RunCurves>(curves);
    }
};

CurveFeed::CurveFeed(std::vector<Quantity> quantities, QObject* parent)
    : QObject(parent), quantities_(std::move(quantities))
{
    connect(&loader_, &SeriesLoader::rowsArrived, this, &CurveFeed::append);
    connect(&loader_, &SeriesLoader::problem, this, &CurveFeed::problem);
}

void CurveFeed::setRuns(const ProjectSnapshot& snapshot, const QStringList& runIds)
{
    std::vector<SeriesRequest> requests;
    for (const QString& id : runIds)
        if (const RunEntry* run = snapshot.run(id))
            requests.push_back({id, QString::fromStdString(run->info.folder), run->running(), quantities_});
    bool gone = false;
    for (const QString& id : runs_.keys()) {
        if (runIds.contains(id))
            continue;
        runs_.remove(id);
        builders_.remove(id);
        deltas_.remove(id);
        gone = true;
    }
    if (requests != loader_.requests())
        loader_.setRequests(std::move(requests));
    if (gone)
        Q_EMIT changed();
}

void CurveFeed::setReference(const QString& runId, Quantity quantity)
{
    if (runId == reference_ && quantity == deltaQuantity_)
        return;
    reference_ = runId;
    deltaQuantity_ = quantity;
    deltas_.clear();
    computeDeltas();
}

void CurveFeed::append(const QString& runId, std::vector<SeriesRows> rows, bool restart)
{
    std::shared_ptr<Builder>& builder = builders_[runId];
    if (!builder || restart)
        builder = std::make_shared<Builder>();
    jobs_.startNext([builder = builder, rows = std::move(rows),
                     restart](const JobToken&) { return builder->append(rows, restart); },
                    [this, runId, builder = builder](RunCurvesPtr curves) {
                        if (builders_.value(runId) != builder)
                            return;
                        runs_.insert(runId, std::move(curves));
                        computeDeltas();
                        Q_EMIT changed();
                    });
}

void CurveFeed::computeDeltas()
{
    const RunCurvesPtr reference = runs_.value(reference_);
    const SeriesSnapshot::Ptr base = reference ? reference->mean(deltaQuantity_) : nullptr;
    if (!base)
        return;
    if (deltaJob_) {
        deltasOutdated_ = true;
        return;
    }
    deltaJob_ = true;
    QHash<QString, SeriesSnapshot::Ptr> others;
    for (auto it = runs_.cbegin(); it != runs_.cend(); ++it)
        if (it.key() != reference_ && it.value())
            if (SeriesSnapshot::Ptr mean = it.value()->mean(deltaQuantity_))
                others.insert(it.key(), mean);
    struct Deltas {
        QHash<QString, SeriesSnapshot::Ptr> series;
        double threshold = 1e-6;
    };
    jobs_.startNext(
        [base, others](const JobToken&) {
            Deltas deltas;
            std::vector<SeriesSnapshot::Ptr> all;
            for (auto it = others.cbegin(); it != others.cend(); ++it) {
                deltas.series.insert(it.key(), deltaOf(*base, *it.value()));
                all.push_back(deltas.series.value(it.key()));
            }
            deltas.threshold = symlogThresholdFor(all);
            return deltas;
        },
        [this, id = reference_](Deltas deltas) {
            deltaJob_ = false;
            if (id != reference_) {
                deltasOutdated_ = false;
                computeDeltas();
                return;
            }
            deltas_ = std::move(deltas.series);
            threshold_ = deltas.threshold;
            Q_EMIT changed();
            if (std::exchange(deltasOutdated_, false))
                computeDeltas(); // rows came while this was computed
        });
}

void CurveFeed::cancel()
{
    loader_.cancel();
    jobs_.cancel();
    deltaJob_ = deltasOutdated_ = false;
}

} // namespace lockstep
