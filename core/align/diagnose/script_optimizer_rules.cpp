// Scripts of the user's own: how they make and call their optimizers, held against the same script in one process.
#include "core/align/diagnose/rules.h"
#include "core/align/diagnose/script_acts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

namespace lockstep::align {

namespace {

constexpr const char* kGroups = "workload_options.optimizer_groups";
constexpr const char* kMembers = "workload_options.optimizer_members"; // parameters and elements by group

// Equal gradients and rates, and the update of an optimizer that has just been made.
void optimizerBegunAgain(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (!bothScripts(c) || step < 2 ||
        (c.link() != CausalLink::Update && c.link() != CausalLink::Parameters) ||
        c.first(Quantity::LearningRate) == step)
        return;
    const int rank = c.sus().ranks().front(), other = c.refRank(rank);
    const auto counter = c.sus().value(rank, Quantity::OptimizerStep, step);
    const auto theirCounter = c.ref().value(other, Quantity::OptimizerStep, step);
    const auto rate = c.sus().value(rank, Quantity::LearningRate, step);
    // Without a momentum an update is the rate times the gradient.
    const auto asIfNew = [&](const RunTrace& run, int r) {
        const auto update = run.value(r, Quantity::UpdateNorm, step);
        auto gradient = run.value(r, Quantity::GradNormClipped, step);
        gradient = gradient ? gradient : run.value(r, Quantity::GradNorm, step);
        return update && gradient && rate && *rate * *gradient > 0 ? *update / (*rate * *gradient) : NAN;
    };
    const double own = asIfNew(c.sus(), rank), theirs = asIfNew(c.ref(), other);
    const bool counts = counter && theirCounter && *counter < *theirCounter;
    // Of other optimizers the update says nothing of the kind.
    const bool momentum =
        c.sus().traits().optimizer == "sgd" && std::atof(settingOf(c.sus().traits(), "momentum").c_str()) > 0;
    const bool noMomentum = momentum && std::abs(own - 1) < 0.02 && std::abs(theirs - 1) > 0.05;
    const std::int64_t load = lastLoad(c.sus(), step);
    if (!counts && !noMomentum)
        return;
    Suspicion s = suspect(
        "F5", kSignature + 6, step, "update norm",
        counts ? fmt::format("At step {} the optimizer's counter is {:g}, the reference's {:g}.", step,
                             *counter, *theirCounter)
               : fmt::format(
                     "At step {} the update is {:.4g} times the rate times the gradient, the reference's "
                     "{:.4g} times: the momentum of the steps before is gone.",
                     step, own, theirs),
        Quantity::UpdateNorm);
    if (load >= 0 && load + 1 == step)
        s.evidence.push_back(
            {"state that was loaded", fmt::format("after step {}", load), std::nullopt, load, -1, {}});
    s.excluded.push_back(
        {"D1", "the learning rate is the reference's", Quantity::LearningRate, step, -1, {}});
    s.excluded.push_back(
        {"D7", "weight decay does not take the momentum away", Quantity::UpdateNorm, step, -1, {}});
    out.push_back(std::move(s));
}

// The norm was held against the limit while the scaler's factor was still on the gradients.
void clippedBeforeUnscale(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (!bothScripts(c) || step < 1)
        return;
    const int rank = c.sus().ranks().front();
    const std::optional<double> scale = clippedScaled(c.sus(), rank, step);
    // A script may have divided by the scale itself: then the norm is not that much larger.
    const auto norm = c.ratio(rank, Quantity::ClipNormTorch, step);
    if (!scale || clippedScaled(c.ref(), c.refRank(rank), step) || (norm && !near(*norm, *scale, 0.1)))
        return;
    Suspicion s = suspect(
        "D3", kSignature + 9, step, "gradient that was clipped",
        fmt::format("At step {} clipping works on gradients {:g} times their size, the scaler's factor.",
                    step, *scale),
        Quantity::ClipNormTorch);
    s.sentence = "Gradients are clipped before the scaler's factor is taken out of them";
    s.fix = "Call scaler.unscale_(optimizer) before clipping";
    s.excluded.push_back(
        {"B2", "the factor is gone before the optimizer steps", Quantity::GradNorm, step, -1, {}});
    s.excluded.push_back({"D5", "the factor is the scaler's", Quantity::ScalerScale, step, -1, {}});
    out.push_back(std::move(s));
}

// A loss is the mean of fewer samples on a rank than in one process, so each sample's gradient is larger and overflows in a
// 16-bit format at a lower scale. Ranks that skip the step together have lost nothing.
void overflowsEarlier(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (!bothScripts(c) || c.rankByRank() || step < 1 || !skippedInOne(c.ref(), c.sus(), step) ||
        c.ref().traits().amp != c.sus().traits().amp ||
        !c.sus().sameOnRanks(Quantity::StepSkipped, step).value_or(false) ||
        !c.sus().sameOnRanks(Quantity::ScalerScale, step).value_or(false))
        return;
    const int rank = c.sus().ranks().front();
    const auto own = c.sus().value(rank, Quantity::Samples, step, 0);
    const auto theirs = c.ref().value(c.refRank(rank), Quantity::Samples, step, 0);
    const auto scale = c.sus().value(rank, Quantity::ScalerScale, step);
    const auto theirScale = c.ref().value(c.refRank(rank), Quantity::ScalerScale, step);
    const bool skips = c.sus().value(rank, Quantity::StepSkipped, step) == 1;
    // What overflows only once the ranks' gradients are added up is another matter.
    const auto overflowed = [&](int r) {
        const auto norm = c.sus().value(r, Quantity::GradNormLocal, step);
        return norm && !std::isfinite(*norm);
    };
    const std::vector<int> ranks = c.sus().ranks();
    if (skips && c.sus().has(Quantity::GradNormLocal) && std::none_of(ranks.begin(), ranks.end(), overflowed))
        return;
    if (!own || !theirs || *own == *theirs || skips != (*own < *theirs) || scale != theirScale)
        return;
    Suspicion s = suspect(
        "D8", kPattern, step, "steps that the scaler skips",
        fmt::format("At step {} the gradients overflow at scale {:g} in one run only: a micro-batch has {:g} "
                    "samples on a rank and {:g} in the reference. All ranks decide alike.",
                    step, *scale, *own, *theirs),
        Quantity::StepSkipped);
    s.sentence = "The gradient scaler skips other steps than in one process, as smaller micro-batches do";
    s.fix = "Nothing to mend; start both runs with a smaller init_scale to compare them";
    s.benign = true;
    out.push_back(std::move(s));
}

// Groups that have a rate at the step. A script may make its optimizer anew later on, and its settings are those of the first.
int groupsAt(const RunTrace& run, int rank, std::int64_t step)
{
    int count = 0;
    for (const std::uint16_t index : run.view().indices(rank, Quantity::LearningRate))
        count += run.value(rank, Quantity::LearningRate, step, index).has_value();
    return count;
}

bool otherGroups(const Case& c, std::int64_t step)
{
    const int rank = c.sus().ranks().front();
    return groupsAt(c.sus(), rank, step) != groupsAt(c.ref(), c.refRank(rank), step);
}

enum class Members { Unknown, Equal, Other };

Members members(const Case& c)
{
    const std::string own = settingOf(c.sus().traits(), kMembers),
                      theirs = settingOf(c.ref().traits(), kMembers);
    return own.empty() || theirs.empty() ? Members::Unknown : own == theirs ? Members::Equal : Members::Other;
}

// Equal gradients, another update: by the settings of the parameter groups, or by rounding that the optimizer amplifies.
void updateBySettings(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (!bothScripts(c) || step < 1 || c.link() != CausalLink::Update ||
        c.first(Quantity::UpdateNorm) != step || c.first(Quantity::LearningRate) == step ||
        c.first(Quantity::StepSkipped) == step || c.first(Quantity::OptimizerStep) == step)
        return;
    const auto ratio = c.ratio(c.sus().ranks().front(), Quantity::UpdateNorm, step);
    const std::string own = settingOf(c.sus().traits(), kGroups);
    const std::string theirs = settingOf(c.ref().traits(), kGroups);
    if (otherGroups(c, step)) {
        const int rank = c.sus().ranks().front();
        out.push_back(
            suspect("D7", kSignature + 8, step, "parameter groups",
                    fmt::format("At step {} the optimizer has {} parameter groups, the reference's {}.", step,
                                groupsAt(c.sus(), rank, step), groupsAt(c.ref(), c.refRank(rank), step)),
                    Quantity::LearningRate));
    } else if (own != theirs) {
        out.push_back(suspect(
            "D7", kSignature + 8, step, "parameter groups",
            fmt::format("The optimizer's parameter groups are set as \"{}\", the reference's as \"{}\".", own,
                        theirs),
            Quantity::UpdateNorm));
    } else if (members(c) == Members::Other) {
        Suspicion s =
            suspect("D7", kSignature + 8, step, "members of the parameter groups",
                    fmt::format("By group there are {}, in the reference {}.",
                                settingOf(c.sus().traits(), kMembers), settingOf(c.ref().traits(), kMembers)),
                    Quantity::UpdateNorm);
        s.sentence = "The optimizer's parameter groups have other members";
        s.fix = "Choose the groups by the names in the model before it is wrapped; a wrapper puts "
                "\"module.\" before them";
        out.push_back(std::move(s));
    } else if (const Amplified amplified = roundingAmplified(c, step); amplified != Amplified::No) {
        Suspicion s =
            suspect("C12", amplified == Amplified::Yes ? kSignature + 8 : kPattern, step, "update norm",
                    fmt::format("At step {} equal gradients and settings give an update {:.1e} "
                                "off: {} divides by the size of the "
                                "gradient, and what is rounding in a small one counts in full.",
                                step, std::abs(*ratio - 1), c.sus().traits().optimizer),
                    Quantity::UpdateNorm);
        s.benign = amplified == Amplified::Yes;
        s.open = !s.benign;
        out.push_back(std::move(s));
    }
}

constexpr Rule kRules[] = {updateBySettings, optimizerBegunAgain, clippedBeforeUnscale, overflowsEarlier};

} // namespace

// Elements of the gradient that are rounding alone turn into updates of full size. How many there are no record says; the
// square root of the gradients' distance is far more than the share of elements below it where sizes are spread evenly.
Amplified roundingAmplified(const Case& c, std::int64_t step)
{
    static const std::set<std::string> kinds = {"adam",  "adamw",     "adamax",  "nadam",
                                                "radam", "rmsprop",   "adagrad", "adadelta",
                                                "rprop", "adafactor", "lion"};
    constexpr double kMost = 0.05, kOfRoot = 16;
    const int rank = c.sus().ranks().front();
    const auto ratio = c.ratio(rank, Quantity::UpdateNorm, step);
    const std::optional<Relation> gradient = c.reduced(rank, step);
    if (!bothScripts(c) || !kinds.contains(c.sus().traits().optimizer) || !ratio ||
        !(std::abs(*ratio - 1) < kMost) || !gradient || gradient->equal || otherGroups(c, step) ||
        members(c) == Members::Other ||
        settingOf(c.sus().traits(), kGroups) != settingOf(c.ref().traits(), kGroups))
        return Amplified::No;
    const bool small = std::abs(*ratio - 1) <= kOfRoot * std::sqrt(gradient->distance);
    return small && members(c) == Members::Equal ? Amplified::Yes : Amplified::Possible;
}

std::span<const Rule> scriptOptimizerRules()
{
    return kRules;
}

} // namespace lockstep::align
