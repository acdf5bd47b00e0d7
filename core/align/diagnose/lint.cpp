#include "core/align/lint.h"

#include "core/align/diagnose/catalogue.h"
#include "core/align/diagnose/epoch_ids.h"
#include "core/align/diagnose/evaluation_counts.h"
#include "core/align/diagnose/logged_loss.h"
#include "core/align/diagnose/script_acts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

using namespace align;

// Steps without any change before it is called a plateau: a single one can be a skipped step.
constexpr std::int64_t kPlateau = 3;

class Linter
{
public:
    explicit Linter(const RunTrace& run) : run_(run) {}

    void nonfiniteGradient()
    {
        if (!begin("nonfinite_gradient", Quantity::GradNorm))
            return;
        for (const int rank : run_.ranks())
            for (const std::int64_t step : run_.steps(rank, Quantity::GradNorm)) {
                const double norm = run_.value(rank, Quantity::GradNorm, step).value_or(0);
                const double loss = run_.value(rank, Quantity::Loss, step).value_or(NAN);
                const bool handled = run_.value(rank, Quantity::StepSkipped, step).value_or(0) != 0;
                if (std::isfinite(norm) || handled)
                    continue;
                if (std::isfinite(loss))
                    add("nonfinite_gradient", {}, step, rank, Quantity::GradNorm,
                        fmt::format("The loss is {:.6g} and the gradient's norm {} at step {}: the loss "
                                    "hides that the gradient "
                                    "is not finite.",
                                    loss, norm, step),
                        "Watch the gradient norm, and find the operation with "
                        "torch.autograd.set_detect_anomaly");
                return; // a loss that is not finite either hides nothing
            }
    }

    // A step that a scaler skips may overflow: that is what it is for.
    void nonfiniteLoss()
    {
        if (!begin("nonfinite_loss", Quantity::Loss))
            return;
        std::optional<std::pair<std::int64_t, int>> first; // step, rank
        for (const int rank : run_.ranks())
            for (const std::int64_t step : run_.steps(rank, Quantity::Loss)) {
                const bool skipped = run_.value(rank, Quantity::StepSkipped, step).value_or(0) != 0;
                if (skipped || std::isfinite(run_.value(rank, Quantity::Loss, step).value_or(0)))
                    continue;
                if (!first || step < first->first)
                    first = {step, rank};
                break;
            }
        if (!first)
            return;
        const auto [step, rank] = *first;
        std::string fact = fmt::format("The loss is {} at step {}.",
                                       run_.value(rank, Quantity::Loss, step).value_or(NAN), step);
        if (const auto before = run_.value(rank, Quantity::GradNorm, step - 1))
            fact += fmt::format(" The gradient's norm was {:.6g} in the step before.", *before);
        add("nonfinite_loss", {}, step, rank, Quantity::Loss, std::move(fact),
            "Look at that step's samples and at the learning rate, and find the operation with "
            "torch.autograd.set_detect_anomaly");
    }

    void loggedLoss()
    {
        if (run_.world() < 2 || !begin("logged_loss", Quantity::LossLogged))
            return;
        const std::optional<LoggedLoss> logged = judgeLoggedLoss(run_);
        if (!logged || logged->form == LoggedLoss::Mean)
            return;
        const bool own = logged->form == LoggedLoss::OwnRank;
        add("logged_loss", own ? "B10" : "B11", logged->step, 0, Quantity::LossLogged,
            fmt::format("At step {} the log shows {:.7g}; the mean over the ranks is {:.7g}, rank 0's own "
                        "loss {:.7g}.",
                        logged->step, logged->shown, logged->mean, logged->own));
    }

    void ranksDiffer()
    {
        if (run_.world() < 2 || !begin("ranks_differ", Quantity::ParamFingerprint))
            return;
        const std::int64_t step = run_.firstSpread(Quantity::ParamFingerprint, 0);
        if (step < 0)
            return;
        const int first = run_.ranks().front();
        const auto odd = std::find_if(run_.ranks().begin(), run_.ranks().end(), [&](int rank) {
            return run_.bits(rank, Quantity::ParamFingerprint, step) !=
                   run_.bits(first, Quantity::ParamFingerprint, step);
        });
        // A gradient that the reduction left as it was, on every rank: nothing was reduced. Anything else one run cannot tell
        // apart.
        const bool unreduced = std::all_of(run_.ranks().begin(), run_.ranks().end(), [&](int rank) {
            const auto reduced = run_.bits(rank, Quantity::GradNorm, step);
            return reduced && reduced == run_.bits(rank, Quantity::GradNormLocal, step);
        });
        const int rank = odd == run_.ranks().end() ? -1 : *odd;
        const std::string sentence =
            fmt::format("The parameters differ between ranks from step {} on.", step);
        const std::optional<ReductionActs> acts = reductionActs(run_, step);
        const std::int64_t rates = run_.firstSpread(Quantity::LearningRate, 1);
        if (step == 0)
            add("ranks_differ", "C7", step, rank, Quantity::ParamFingerprint, sentence);
        else if (unreduced && acts && acts->forward.back() == "bypassed")
            add("ranks_differ", "C1", step, rank, Quantity::ParamFingerprint,
                sentence + " The forward pass does not go through the DDP wrapper.");
        else if (unreduced && acts && acts->backward.back() == "sync")
            add("ranks_differ", {}, step, rank, Quantity::ParamFingerprint,
                sentence + " No gradient was reduced although the backward pass ran with synchronisation on.",
                "Decide on no_sync() before the forward pass, and wrap the model after it was moved");
        else if (unreduced)
            add("ranks_differ", "B8", step, rank, Quantity::ParamFingerprint, sentence);
        else if (rates >= 1 && rates <= step)
            add("ranks_differ", "D2", step, rank, Quantity::LearningRate,
                fmt::format(
                    "{} Their learning rates differ from step {} on: {:.6g} on rank {}, {:.6g} on rank {}.",
                    sentence, rates, run_.value(first, Quantity::LearningRate, rates).value_or(0), first,
                    run_.value(rank, Quantity::LearningRate, rates).value_or(0), rank),
                "Call the scheduler's step() on every rank");
        else
            add("ranks_differ", {}, step, rank, Quantity::ParamFingerprint, sentence,
                "A module outside DDP, a hook or an optimizer of one rank does this; lockstep-cli diagnose "
                "with a "
                "single-process run tells which");
    }

    void scalerOneRank()
    {
        if (run_.world() < 2 || !begin("scaler_one_rank", Quantity::StepSkipped))
            return;
        const std::int64_t step = run_.firstSpread(Quantity::StepSkipped, 1);
        if (step < 0)
            return;
        std::string ranks;
        int odd = -1;
        for (const int rank : run_.ranks())
            if (run_.value(rank, Quantity::StepSkipped, step).value_or(0) != 0) {
                ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", rank);
                odd = rank;
            }
        add("scaler_one_rank", "D8", step, odd, Quantity::StepSkipped,
            fmt::format("At step {} only rank {} of {} skipped the step.", step, ranks, run_.world()));
    }

    void orderRepeats()
    {
        if (!begin("epoch_order_repeats", Quantity::SampleIds))
            return;
        EpochIds before = epochNumber(run_, 0);
        // One order is what a run without shuffling is told to have.
        if (before.epoch < 0 || before.ascending() || !run_.traits().shuffle)
            return;
        for (std::int64_t epoch = 1; epoch < 4; ++epoch) {
            const EpochIds now = epochNumber(run_, epoch);
            if (now.epoch < 0 || now.ranks.front().size() < 8)
                return;
            const bool repeats =
                std::equal(now.ranks.begin(), now.ranks.end(), before.ranks.begin(), before.ranks.end(),
                           [](const auto& a, const auto& b) {
                               return a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin());
                           });
            if (repeats) {
                add("epoch_order_repeats", "A3", now.firstStep, -1, Quantity::SampleIds,
                    fmt::format("Epoch {} has the order of epoch {} on every rank.", epoch, epoch - 1));
                return;
            }
            before = now;
        }
    }

    void noUpdate()
    {
        if (!begin("no_update", Quantity::UpdateNorm))
            return;
        for (const int rank : run_.ranks()) {
            std::int64_t still = 0;
            for (const std::int64_t step : run_.steps(rank, Quantity::UpdateNorm)) {
                const bool skipped = run_.value(rank, Quantity::StepSkipped, step).value_or(0) != 0;
                const bool due = run_.value(rank, Quantity::GradNorm, step).value_or(0) > 0 &&
                                 run_.value(rank, Quantity::LearningRate, step).value_or(0) > 0 && step > 0;
                still =
                    due && !skipped && run_.value(rank, Quantity::UpdateNorm, step) == 0.0 ? still + 1 : 0;
                if (still < kPlateau)
                    continue;
                const std::int64_t first = step - kPlateau + 1;
                add("no_update", "D6", first, rank, Quantity::UpdateNorm,
                    fmt::format(
                        "From step {} no parameter changes although gradient and learning rate are above 0.",
                        first));
                return;
            }
        }
    }

    void evaluation()
    {
        if (!run_.has(Quantity::EvalSamples)) // most runs do not evaluate; that is no gap
            return;
        begin("evaluation_counts", Quantity::EvalSamples);
        const std::optional<EvaluationCounts> counts = evaluationCounts(run_);
        if (counts && counts->repeats())
            add("evaluation_counts", "F9", counts->step, counts->rank, Quantity::EvalSamples,
                describe(*counts));
    }

    Lint take()
    {
        std::stable_sort(
            lint_.findings.begin(), lint_.findings.end(),
            [](const LintFinding& a, const LintFinding& b) { return a.finding.step < b.finding.step; });
        return std::move(lint_);
    }

private:
    bool begin(const char* check, Quantity needs)
    {
        if (!run_.has(needs)) {
            lint_.problems.push_back(
                fmt::format("{}: the run did not record \"{}\".", check, quantityInfo(needs)->title));
            return false;
        }
        lint_.checked.push_back(check);
        return true;
    }

    void add(const char* check, const std::string& cause, std::int64_t step, int rank, Quantity quantity,
             std::string fact, std::string fix = {})
    {
        Finding finding;
        finding.certainty = Certainty::Likely;
        finding.step = step;
        finding.rank = rank;
        const Cause* known = causeById(cause);
        // Unequal parameters have many causes; the sentence names the state alone.
        finding.sentence = known && std::string_view(check) != "ranks_differ"
                               ? fmt::format("{}. {}", known->sentence, fact)
                               : fact;
        finding.fix = known && fix.empty() ? std::string(known->fix) : std::move(fix);
        if (known)
            finding.causes = {cause};
        finding.evidence.push_back(
            {std::string(quantityInfo(quantity)->title), std::move(fact), quantity, step, rank, {}});
        lint_.findings.push_back({check, std::move(finding)});
    }

    const RunTrace& run_;
    Lint lint_;
};

} // namespace

Result<Lint> lintRun(const DiagnosedRun& run)
{
    const Result<RunTrace> trace = RunTrace::open(*run.reader, run.traits);
    if (!trace)
        return trace.error();
    if (trace->ranks().empty())
        return Error{ErrorKind::Input, "The run cannot be checked", "it has recorded nothing",
                     "Record it with --record step"};
    Linter linter(*trace);
    linter.nonfiniteGradient();
    linter.nonfiniteLoss();
    linter.loggedLoss();
    linter.ranksDiffer();
    linter.scalerOneRank();
    linter.orderRepeats();
    linter.noUpdate();
    linter.evaluation();
    if (trace->error())
        return *trace->error();
    return linter.take();
}

} // namespace lockstep
