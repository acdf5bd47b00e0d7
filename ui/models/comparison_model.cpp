#include "ui/models/comparison_model.h"

#include "ui/models/comparison_rule.h"
#include "ui/models/next_action.h"

#include <QDateTime>

#include <algorithm>
#include <utility>

namespace lockstep {

namespace {

constexpr std::int64_t kAgainMs = 1000;

RunVerdict verdictOf(const RunComparison& c)
{
    RunVerdict verdict;
    verdict.against = c.runA;
    verdict.state = c.verdict;
    verdict.firstStep = c.firstStep;
    verdict.link = c.firstLink;
    verdict.explanation = c.sentence;
    verdict.sentence = c.brief;
    return verdict;
}

} // namespace

ComparisonModel::ComparisonModel(QObject* parent) : QObject(parent)
{
    again_.setInterval(int(kAgainMs));
    connect(&again_, &QTimer::timeout, this, &ComparisonModel::next);
}

void ComparisonModel::setSnapshot(const ProjectSnapshotPtr& snapshot)
{
    const bool otherProject = !snapshot_ || snapshot_->info.folder != snapshot->info.folder;
    snapshot_ = snapshot;
    // A gate that was judged again has measured another envelope.
    std::int64_t measuredMs = 0;
    for (const char* phase : {"gradients", "precision"})
        if (const GateInfo* gate = snapshot_->gate(phase))
            measuredMs = std::max(measuredMs, gate->judgedUnixMs);
    const bool otherEnvelope = std::exchange(envelopeMs_, measuredMs) != measuredMs;
    if (otherProject || otherEnvelope) {
        jobs_.cancel();
        results_.clear();
        madeMs_.clear();
        verdicts_.clear();
        if (otherProject)
            watched_ = extra_ = {};
        Q_EMIT verdictsChanged(verdicts_);
    }
    next();
}

void ComparisonModel::watch(const QString& runA, const QString& runB)
{
    watched_ = {runA, runB};
    if (runA.isEmpty() || runB.isEmpty()) {
        watched_ = {};
        again_.stop();
        return;
    }
    again_.start();
    if (const RunComparisonPtr known = result(runA, runB))
        Q_EMIT compared(known);
    next();
}

void ComparisonModel::want(const QString& runA, const QString& runB)
{
    extra_ = {runA, runB};
    next();
}

RunComparisonPtr ComparisonModel::result(const QString& runA, const QString& runB) const
{
    return results_.value({runA, runB});
}

EnvelopeSource ComparisonModel::envelopeSource() const
{
    const GateInfo* gate = snapshot_->gate("gradients");
    return {snapshot_->info.folder, gate ? gate->configJson : std::string()};
}

bool ComparisonModel::wanted(const Pair& pair) const
{
    const RunComparisonPtr known = results_.value(pair);
    if (!known)
        return true;
    if (!known->live)
        return false;
    const RunEntry* a = snapshot_->run(pair.first);
    const RunEntry* b = snapshot_->run(pair.second);
    const bool ended = a && b && !a->running() && !b->running();
    // Live verdicts of runs nobody looks at can wait until the run has ended.
    return ended ||
           (pair == watched_ && QDateTime::currentMSecsSinceEpoch() - madeMs_.value(pair) >= kAgainMs - 50);
}

// One comparison at a time; the watched pair goes first. Each answer asks for the next.
void ComparisonModel::next()
{
    if (!snapshot_ || jobs_.busy())
        return;
    Pair pair;
    const auto usable = [this](const QString& id) {
        const RunEntry* run = snapshot_->run(id);
        return run && run->configReadable && run->info.lastStep >= 0;
    };
    if (!watched_.first.isEmpty() && usable(watched_.first) && usable(watched_.second) && wanted(watched_)) {
        pair = watched_;
    } else if (!extra_.first.isEmpty() && usable(extra_.first) && usable(extra_.second) && wanted(extra_)) {
        pair = extra_;
    } else {
        for (const RunEntry& run : snapshot_->runs) {
            if (run.running() || !usable(run.id()))
                continue;
            const QString reference = referenceRun(*snapshot_, run);
            if (reference.isEmpty() || !usable(reference) || snapshot_->run(reference)->running())
                continue;
            const Pair candidate{reference, run.id()};
            const bool shown = verdicts_.value(run.id()).against == reference;
            if (wanted(candidate)) {
                pair = candidate;
                break;
            }
            if (!shown) { // known from watching it
                verdicts_.insert(run.id(), verdictOf(*results_.value(candidate)));
                Q_EMIT verdictsChanged(verdicts_);
            }
        }
    }
    if (pair.first.isEmpty())
        return;
    jobs_.startNext(
        [a = *snapshot_->run(pair.first), b = *snapshot_->run(pair.second),
         envelope = envelopeSource()](const JobToken&) {
            return std::make_shared<const RunComparison>(compareEntries(a, b, envelope));
        },
        [this](const RunComparisonPtr& comparison) { take(comparison); });
}

void ComparisonModel::take(const RunComparisonPtr& comparison)
{
    const Pair pair{comparison->runA, comparison->runB};
    results_.insert(pair, comparison);
    madeMs_.insert(pair, QDateTime::currentMSecsSinceEpoch());
    if (pair == watched_)
        Q_EMIT compared(comparison);
    const RunEntry* run = snapshot_->run(comparison->runB);
    const bool judged = run && !run->running() && referenceRun(*snapshot_, *run) == comparison->runA;
    if (judged)
        verdicts_.insert(comparison->runB, verdictOf(*comparison));
    if (judged || pair == extra_)
        Q_EMIT verdictsChanged(verdicts_);
    next();
}

} // namespace lockstep
