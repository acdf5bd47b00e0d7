#include "ui/pages/curve_feed.h"

#include <cmath>
#include <set>
#include <utility>

namespace lockstep {

struct CurveFeed::Builder {
    std::map<SeriesKey, SeriesSnapshot::Ptr> bySteps;
    RunCurves curves; // over `unit`
    XUnit unit = XUnit::Step;

    RunCurvesPtr append(const std::vector<SeriesRows>& rows, bool restart, XUnit wanted)
    {
        if (restart) {
            bySteps.clear();
            curves = {};
        }
        std::set<Quantity> touched;
        for (const SeriesRows& one : rows) {
            std::vector<double> values(one.rows->size());
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = one.rows->value(i);
            SeriesSnapshot::Ptr& series = bySteps[one.key];
            series = series ? series->appended(one.rows->steps, values)
                            : SeriesSnapshot::fromSteps(one.rows->steps, values);
            touched.insert(one.key.quantity);
        }
        return made(std::move(touched), wanted);
    }

    // Everything is made anew when the x axis changes, else what was touched.
    RunCurvesPtr made(std::set<Quantity> touched, XUnit wanted)
    {
        if (wanted != unit || touched.contains(Quantity::SamplesSeen)) {
            unit = wanted;
            curves = {};
            countSamples();
            for (const auto& [key, series] : bySteps)
                touched.insert(key.quantity);
        }
        for (const Quantity quantity : touched) {
            std::vector<SeriesSnapshot::Ptr> all;
            std::vector<int> ranks;
            for (const auto& [key, series] : bySteps) {
                if (key.quantity != quantity)
                    continue;
                SeriesSnapshot::Ptr shown = series;
                if (unit == XUnit::Samples)
                    shown = curves.seen ? laidOver(*series, *curves.seen) : SeriesSnapshot::fromSteps({}, {});
                curves.series[key] = shown;
                all.push_back(shown);
                ranks.push_back(key.rank);
            }
            curves.spread[quantity] = all.size() == 1 ? RankSpread{all[0], all[0], all[0]} : spreadOf(all);
            curves.ranks[quantity] = std::move(ranks);
        }
        return std::make_shared<const RunCurves>(curves);
    }

    // Each rank counts the samples of all ranks; the first one speaks for the run.
    void countSamples()
    {
        curves.seen = nullptr;
        for (const auto& [key, series] : bySteps)
            if (key.quantity == Quantity::SamplesSeen && !curves.seen)
                curves.seen = series;
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
    std::vector<Quantity> wanted = quantities_;
    if (unit_ == XUnit::Samples) // another request: these runs are read anew
        wanted.push_back(Quantity::SamplesSeen);
    std::vector<SeriesRequest> requests;
    for (const QString& id : runIds)
        if (const RunEntry* run = snapshot.run(id))
            requests.push_back({id, QString::fromStdString(run->info.folder), run->running(), wanted});
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

void CurveFeed::setXUnit(XUnit unit)
{
    if (unit == unit_)
        return;
    unit_ = unit;
    // Nothing of the old axis stays; what is still being read is dropped by its builder.
    runs_.clear();
    deltas_.clear();
    builders_.clear();
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
    jobs_.startNext(
        [builder = builder, rows = std::move(rows), restart, unit = unit_](const JobToken&) {
            return builder->append(rows, restart, unit);
        },
        [this, runId, builder = builder](RunCurvesPtr curves) { take(runId, builder, std::move(curves)); });
}

void CurveFeed::take(const QString& runId, const std::shared_ptr<Builder>& builder, RunCurvesPtr curves)
{
    if (builders_.value(runId) != builder)
        return;
    runs_.insert(runId, std::move(curves));
    computeDeltas();
    Q_EMIT changed();
}

qint64 CurveFeed::xOfStep(const QString& runId, qint64 step) const
{
    const RunCurvesPtr curves = runs_.value(runId);
    if (unit_ == XUnit::Step || !curves || !curves->seen || curves->seen->empty())
        return step;
    const SeriesSnapshot& seen = *curves->seen;
    if (step < seen.firstStep())
        return 0;
    const std::size_t at = seen.nearest(double(step));
    return qint64(std::llround(seen.value(at)));
}

qint64 CurveFeed::stepOfX(const QString& runId, qint64 x) const
{
    const RunCurvesPtr curves = runs_.value(runId);
    if (unit_ == XUnit::Step || !curves || !curves->seen || curves->seen->empty())
        return x;
    const SeriesSnapshot& seen = *curves->seen; // grows: bisect
    std::size_t low = 0, high = seen.size() - 1;
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (seen.value(middle) < double(x))
            low = middle + 1;
        else
            high = middle;
    }
    return seen.step(low);
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
