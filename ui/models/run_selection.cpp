#include "ui/models/run_selection.h"

namespace lockstep {

void RunSelection::setRuns(const QString& runA, const QString& runB)
{
    if (runA == runA_ && runB == runB_)
        return;
    runA_ = runA;
    runB_ = runB == runA ? QString() : runB;
    Q_EMIT runsChanged();
}

void RunSelection::setExtraRuns(const QStringList& runs)
{
    if (runs == extra_)
        return;
    extra_ = runs;
    Q_EMIT runsChanged();
}

QStringList RunSelection::chosen() const
{
    QStringList all{runA_, runB_};
    all += extra_;
    all.removeAll(QString());
    all.removeDuplicates();
    return all;
}

void RunSelection::setStep(std::optional<qint64> step)
{
    if (step == step_)
        return;
    step_ = step;
    Q_EMIT stepChanged(step);
}

void RunSelection::keepOnly(const QStringList& existing)
{
    const QString a = existing.contains(runA_) ? runA_ : QString();
    const QString b = existing.contains(runB_) ? runB_ : QString();
    QStringList extra;
    for (const QString& run : extra_)
        if (existing.contains(run))
            extra << run;
    if (a == runA_ && b == runB_ && extra == extra_)
        return;
    runA_ = a;
    runB_ = b;
    extra_ = extra;
    Q_EMIT runsChanged();
}

} // namespace lockstep
