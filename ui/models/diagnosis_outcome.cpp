#include "ui/models/diagnosis_outcome.h"

#include <QCoreApplication>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::DiagnosisOutcome)
};

} // namespace

DiagnosisOutcome outcomeWithoutFinding(const RunComparison& comparison)
{
    DiagnosisOutcome out;
    out.state = comparison.verdict;
    switch (comparison.verdict) {
    case State::Holds:
        out.headline =
            Tr::tr("%1 does not part from %2: nothing to find").arg(comparison.runB, comparison.runA);
        break;
    case State::Diverged:
        out.state = State::CannotCompare;
        out.headline = Tr::tr("%1 parts from %2, and no cause of the catalogue explains it")
                           .arg(comparison.runB, comparison.runA);
        break;
    default:
        out.headline = Tr::tr("No cause found between %1 and %2").arg(comparison.runA, comparison.runB);
        break;
    }
    out.text = comparison.headline + QStringLiteral(". ") + comparison.sentence;
    return out;
}

QString whyNotProvable(const RunEntry* a, const RunEntry* b)
{
    for (const RunEntry* run : {a, b})
        if (run && run->script())
            return Tr::tr("%1 is a run of your own script. Proof needs a twin that Lockstep trains itself, "
                          "and a script has "
                          "none: its findings stay likely or possible.")
                .arg(run->name());
    return {};
}

} // namespace lockstep
