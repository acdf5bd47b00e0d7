// F9: the evaluation counts what the sampler repeats. Needs no reference.
#include "core/align/diagnose/evaluation_counts.h"
#include "core/align/diagnose/rules.h"

namespace lockstep::align {

namespace {

void repeatsCounted(const Case& c, Suspicions& out)
{
    const std::optional<EvaluationCounts> counts = evaluationCounts(c.sus());
    if (!counts || !counts->repeats())
        return;
    // The reference may count in the same way; then the runs do not differ in it.
    const std::optional<EvaluationCounts> theirs = evaluationCounts(c.ref());
    if (theirs && theirs->counted == counts->counted)
        return;
    Suspicion s;
    s.cause = "F9";
    s.fit = kSignature + 5;
    s.step = counts->step;
    s.rank = counts->rank;
    s.fact = describe(*counts);
    s.evidence.push_back({"samples evaluated", s.fact, Quantity::EvalSamples, s.step, s.rank, {}});
    const auto loss = c.ratio(c.sus().ranks().front(), Quantity::EvalLoss, s.step);
    if (loss && *loss != 1)
        s.evidence.push_back({"evaluation loss",
                              fmt::format("{:.7g} times the reference's", *loss),
                              Quantity::EvalLoss,
                              s.step,
                              -1,
                              {}});
    s.excluded.push_back({"F10",
                          "the sums and counts of the ranks were added, each with its weight",
                          Quantity::EvalSamples,
                          s.step,
                          -1,
                          {}});
    out.push_back(std::move(s));
}

constexpr Rule kRules[] = {repeatsCounted};

} // namespace

std::span<const Rule> evaluationRules()
{
    return kRules;
}

} // namespace lockstep::align
