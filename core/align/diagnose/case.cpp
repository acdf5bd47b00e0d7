#include "core/align/diagnose/case.h"

#include "core/align/diagnose/inputs.h"
#include "core/align/diagnose/script_acts.h"
#include "core/align/plan.h"
#include "core/align/scan.h"
#include "core/base/fingerprint.h"

#include <algorithm>
#include <cmath>

namespace lockstep::align {

namespace {

// Half an ulp of the format, times what sums of thousands of terms in another order make of it.
constexpr double kRounding = 64;
// A correct run's distance to another grows smoothly; a fault is a jump.
constexpr double kJump = 64;
// But for what tips over: a ReLU or a maximum that is decided by a last bit moves the gradient of a small model by up to a
// hundredth of its length while the loss stays as it was. A fault in the gradient is more, or is there from the first step on.
constexpr double kTipping = 0.01;

bool isCollective(Quantity quantity)
{
    return quantity == Quantity::CollectiveCount || quantity == Quantity::CollectiveBytes ||
           quantity == Quantity::CollectiveDtype;
}

bool isProjection(Quantity quantity)
{
    return quantity == Quantity::GradProjLocal || quantity == Quantity::GradProj;
}

// What a single process and ranks must have in common to the bit. Not the micro-batches of a process: it may work through
// those of ranks that are not there. Another batch shows in its samples.
bool exactAcrossWorlds(Quantity quantity)
{
    switch (quantity) {
    case Quantity::Epoch:
    case Quantity::SamplesSeen:
    case Quantity::TokensSeen:
    case Quantity::LearningRate:
    case Quantity::OptimizerStep:
    case Quantity::ScalerScale:
    case Quantity::FoundInf:
    case Quantity::StepSkipped:
    case Quantity::EvalSamples:
    case Quantity::EvalSetSize:
        return true;
    default:
        return false;
    }
}

// What the probe counts on each rank by itself; a script may deal its batch otherwise to several ranks than to one.
bool countedByRank(Quantity quantity)
{
    return quantity == Quantity::SamplesSeen || quantity == Quantity::TokensSeen ||
           quantity == Quantity::Epoch;
}

} // namespace

Result<Case> Case::make(const RunTrace& reference, const RunTrace& suspect)
{
    Case made(reference, suspect);
    // By set-up, not by records: a run that lost a rank is still held against the other rank by rank.
    const RunTraits &a = reference.traits(), &b = suspect.traits();
    made.rankByRank_ = a.single == b.single && a.world == b.world;
    made.firstStep_ = std::max({std::int64_t(0), reference.view().firstStep, suspect.view().firstStep});
    made.lastStep_ = std::min(reference.lastStep(), suspect.lastStep());
    if (Status scanned = made.scanAll(); !scanned)
        return scanned.error();
    return made;
}

double Case::precision() const
{
    const auto of = [](const std::string& amp) {
        return amp == "bf16" ? 8 * 0x1p-8 : amp == "fp16" ? 8 * 0x1p-11 : kRounding * 0x1p-24;
    };
    return std::max(of(ref_->traits().amp), of(sus_->traits().amp));
}

void Case::note(Quantity quantity, std::int64_t step)
{
    if (step < 0)
        return;
    const auto [it, added] = firsts_.try_emplace(quantity, step);
    it->second = std::min(it->second, step);
}

Status Case::scanExact(Quantity quantity)
{
    const Judge judge{{CompareMode::Exact, 0}, nullptr, quantityInfo(quantity)->type, false};
    for (const int rank : sus_->ranks()) {
        for (const std::uint16_t index : sus_->view().indices(rank, quantity)) {
            const SeriesKey own{rank, quantity, index}, other{refRank(rank), quantity, index};
            if (!ref_->view().has(other))
                continue;
            const auto a = storedSeries(ref_->view(), other);
            const auto b = storedSeries(sus_->view(), own);
            const Result<Scan> scan = scanSteps(*a, *b, firstStep_, lastStep_, judge);
            if (!scan)
                return scan.error();
            if (scan->first)
                note(quantity, scan->first->stepA);
        }
    }
    return {};
}

// Which samples a step uses, in any order and on whichever rank: a sum over what one sample gives.
Result<std::map<std::int64_t, std::uint64_t>> Case::usedSamples(const RunTrace& run, bool contents,
                                                                std::int64_t from, std::int64_t to)
{
    std::map<std::int64_t, std::uint64_t> used;
    for (const int rank : run.ranks())
        for (const RunTrace::StepSamples& step : run.samples(rank, from, to)) {
            std::uint64_t& sum = used[step.step];
            if (contents)
                for (const std::uint64_t hash : step.hashes)
                    sum += fingerprintMix(0, hash);
            else
                for (const std::int64_t id : step.ids)
                    sum += fingerprintMix(0, std::uint64_t(id));
        }
    if (run.error())
        return *run.error();
    return used;
}

// How many samples or tokens a step has on all ranks together. (What a rank says to have seen in all is counted from its own
// share, which need not be everybody's.)
void Case::scanCounted(Quantity quantity)
{
    const auto sum = [quantity](const RunTrace& run, std::int64_t step) {
        std::optional<double> all;
        for (const int rank : run.ranks())
            if (const std::optional<double> own = run.total(rank, quantity, step))
                all = all.value_or(0) + *own;
        return all;
    };
    for (std::int64_t step = std::max<std::int64_t>(1, firstStep_); step <= lastStep_; ++step) {
        const std::optional<double> a = sum(*ref_, step), b = sum(*sus_, step);
        if (a && b && *a != *b)
            return note(quantity, step);
    }
}

Status Case::scanJoined(Quantity quantity)
{
    constexpr std::int64_t kWindow = 1024; // steps
    const bool contents = quantity == Quantity::SampleContent;
    for (std::int64_t from = std::max<std::int64_t>(1, firstStep_); from <= lastStep_; from += kWindow) {
        const std::int64_t to = std::min(lastStep_ + 1, from + kWindow);
        const auto a = usedSamples(*ref_, contents, from, to), b = usedSamples(*sus_, contents, from, to);
        if (!a)
            return a.error();
        if (!b)
            return b.error();
        for (const auto& [step, sum] : *a) {
            const auto other = b->find(step);
            if (other == b->end() || other->second == sum ||
                (contents && isUsersScript(sus_->traits()) && inputsMadeByModel(*ref_, *sus_, step)))
                continue;
            note(quantity, step);
            return {};
        }
    }
    return {};
}

void Case::scanMeasured()
{
    struct Watch {
        Quantity quantity;
        double worst = 0;
        bool found = false;
    };
    std::vector<Watch> watches = {
        {Quantity::Loss},          {Quantity::GradProjLocal},   {Quantity::GradProj},
        {Quantity::ClipNormTorch}, {Quantity::GradNormClipped}, {Quantity::UpdateNorm},
        {Quantity::LossLogged},    {Quantity::EvalLoss}};
    const auto overflowed = [this](Quantity quantity, std::int64_t step) {
        const auto a = ref_->value(ref_->ranks().front(), quantity, step);
        const auto b = sus_->value(sus_->ranks().front(), quantity, step);
        return a && b && !std::isfinite(*a) && !std::isfinite(*b);
    };
    // Ranks that average their parameters step on gradients of their own.
    const bool averages = parameterAveraging(*sus_).first >= 0;
    const bool script = isUsersScript(sus_->traits()) && sus_->world() > 1;
    const auto ofOneRank = [](Quantity quantity) {
        return quantity == Quantity::GradProj || quantity == Quantity::ClipNormTorch ||
               quantity == Quantity::GradNormClipped || quantity == Quantity::UpdateNorm;
    };
    // Losses that are divided by something of the batch are means of other sizes. From equal weights the same gradient came of
    // them; so it is the gradient that tells. (One that is the same on all ranks was reduced before backward.)
    const auto weighedOtherwise = [&](std::int64_t step) {
        const auto loss = lossRatioMean(step);
        const auto mean = localMean(step), whole = reduced(sus_->ranks().front(), step);
        return script && loss && !near(*loss, 1, precision()) && mean && mean->same(precision()) && whole &&
               whole->same(precision()) && !sus_->sameOnRanks(Quantity::Loss, step).value_or(true);
    };
    const bool lossesTell = !weighedOtherwise(std::max<std::int64_t>(1, firstStep_));
    const auto distance = [&](Quantity quantity, std::int64_t step) -> std::optional<double> {
        if (quantity == Quantity::Loss && !lossesTell)
            return {};
        if (averages && ofOneRank(quantity))
            return {};
        if (isProjection(quantity)) {
            const auto relation =
                quantity == Quantity::GradProj ? reduced(sus_->ranks().front(), step) : localMean(step);
            // What a script hands to its own reduction may have been divided already, and DDP shows a parameter's gradient
            // before the reduction only where the last pass used it: what comes out counts, where that is nearer.
            const auto whole = script && relation ? reduced(sus_->ranks().front(), step) : std::nullopt;
            if (relation && whole)
                return std::min(relation->distance, whole->distance);
            return relation ? std::optional(relation->distance) : std::nullopt;
        }
        const auto factor =
            quantity == Quantity::Loss ? lossRatioMean(step) : ratio(sus_->ranks().front(), quantity, step);
        // Two that overflowed are no difference; one alone is.
        if (factor && !std::isfinite(*factor) && overflowed(quantity, step))
            return {};
        return factor ? std::optional(std::abs(*factor - 1)) : std::nullopt;
    };
    double tipped = 0; // what tipped over is in everything that follows
    for (std::int64_t step = std::max<std::int64_t>(1, firstStep_); step <= lastStep_; ++step) {
        for (Watch& watch : watches) {
            if (watch.found)
                continue;
            const std::optional<double> now = distance(watch.quantity, step);
            if (!now)
                continue;
            const double grown = std::max({precision(), kJump * watch.worst, tipped});
            if (script && step > 1 && isProjection(watch.quantity) && *now > grown && *now <= kTipping)
                tipped = *now;
            else if (!(*now <= grown)) {
                note(watch.quantity, step);
                watch.found = true;
            }
            watch.worst = std::max(watch.worst, *now);
        }
    }
}

// A group that one run does not have at a step has no other rate there.
void Case::scanRates()
{
    for (const int rank : sus_->ranks())
        for (const std::uint16_t index : sus_->view().indices(rank, Quantity::LearningRate))
            for (const std::int64_t step : sus_->steps(rank, Quantity::LearningRate, index)) {
                const auto own = sus_->bits(rank, Quantity::LearningRate, step, index);
                const auto theirs = ref_->bits(refRank(rank), Quantity::LearningRate, step, index);
                if (step < firstStep_ || step > lastStep_ || !own || !theirs || *own == *theirs)
                    continue;
                note(Quantity::LearningRate, step);
                break;
            }
}

Status Case::scanAll()
{
    const bool scripts = isUsersScript(sus_->traits());
    const bool otherInputs =
        scripts && !rankByRank_ && (inputsSharedByRanks(*ref_, *sus_) || rowsAreNoSamples(*ref_, *sus_));
    for (const QuantityInfo* info : causalOrder()) {
        if (info->link == CausalLink::None || !ref_->has(info->id) || !sus_->has(info->id))
            continue;
        if (isCollective(info->id) && (ref_->traits().replayed || sus_->traits().replayed))
            continue;
        Status scanned;
        if (!rankByRank_ && scripts && countedByRank(info->id))
            continue;
        if (!rankByRank_ && info->id == Quantity::SampleContent && shapesVary(*sus_))
            continue;
        if (otherInputs && (info->id == Quantity::Samples || info->id == Quantity::SampleContent))
            continue;
        // A loss that no rank weighs by all tokens leaves each to work the total out from its own share.
        if (info->id == Quantity::TokensSeen && ref_->has(Quantity::Tokens) && sus_->has(Quantity::Tokens))
            continue;
        if (!rankByRank_ && (info->id == Quantity::Samples || info->id == Quantity::Tokens))
            scanCounted(info->id);
        else if (!rankByRank_ && scripts && info->id == Quantity::LearningRate)
            scanRates();
        else if (rankByRank_ || exactAcrossWorlds(info->id))
            scanned = scanExact(info->id);
        else if (info->id == Quantity::SampleIds || info->id == Quantity::SampleContent)
            scanned = scanJoined(info->id);
        if (!scanned)
            return scanned;
    }
    if (!rankByRank_)
        scanMeasured();
    for (const QuantityInfo* info : causalOrder()) {
        const std::int64_t step = first(info->id);
        // A skipped bucket is seen as fewer collectives and as unequal gradients: the gradients say more.
        if (step < 0 || isCollective(info->id) || (start_ >= 0 && step >= start_))
            continue;
        start_ = step;
    }
    for (const QuantityInfo* info : causalOrder()) {
        if (start_ < 0 && isCollective(info->id) && first(info->id) >= 0)
            start_ = first(info->id);
        if (start_ >= 0 && first(info->id) == start_ && !quantity_) {
            quantity_ = info->id;
            link_ = info->link;
        }
    }
    return {};
}

std::int64_t Case::first(Quantity quantity) const
{
    const auto it = firsts_.find(quantity);
    return it == firsts_.end() ? -1 : it->second;
}

int Case::refRank(int rank) const
{
    return rankByRank_ ? rank : ref_->ranks().front();
}

std::vector<int> Case::ranksOff(Quantity quantity, std::int64_t step) const
{
    if (!rankByRank_)
        return first(quantity) == step ? sus_->ranks() : std::vector<int>();
    std::vector<int> off;
    for (const int rank : sus_->ranks()) {
        for (const std::uint16_t index : sus_->view().indices(rank, quantity)) {
            const auto a = ref_->bits(rank, quantity, step, index);
            const auto b = sus_->bits(rank, quantity, step, index);
            if (a == b || (!ref_->view().has({rank, quantity, index})))
                continue;
            off.push_back(rank);
            break;
        }
    }
    return off;
}

std::optional<Relation> Case::local(int rank, std::int64_t step) const
{
    return rankByRank_ ? relate(sus_->local(rank, step), ref_->local(rank, step)) : std::nullopt;
}

bool Case::scaledAfterReduction(std::int64_t step) const
{
    if (rankByRank_ || world() < 2 || !isUsersScript(sus_->traits()))
        return false;
    const std::optional<Relation> own = ownReduction(sus_->ranks().front(), step);
    return own && own->proportional(precision()) && !own->same(precision());
}

std::optional<Relation> Case::localMean(std::int64_t step) const
{
    if (scaledAfterReduction(step))
        return {};
    return relate(sus_->localMean(step), ref_->localMean(step));
}

std::optional<Relation> Case::reduced(int rank, std::int64_t step) const
{
    return relate(sus_->reduced(rank, step), ref_->reduced(refRank(rank), step));
}

std::optional<Relation> Case::ownReduction(int rank, std::int64_t step) const
{
    return relate(sus_->reduced(rank, step), sus_->localMean(step));
}

std::optional<Relation> Case::ownLocal(int rank, std::int64_t step) const
{
    return relate(sus_->reduced(rank, step), sus_->local(rank, step));
}

std::optional<double> Case::ratio(int rank, Quantity quantity, std::int64_t step, std::uint16_t index) const
{
    const auto a = ref_->value(refRank(rank), quantity, step, index);
    const auto b = sus_->value(rank, quantity, step, index);
    if (!a || !b)
        return {};
    if (*a == *b)
        return 1;
    return *b / *a;
}

std::optional<double> Case::lossRatio(int rank, std::int64_t step) const
{
    return rankByRank_ ? ratio(rank, Quantity::Loss, step) : std::nullopt;
}

std::optional<double> Case::lossRatioMean(std::int64_t step) const
{
    const auto a = ref_->lossMean(step), b = sus_->lossMean(step);
    if (!a || !b)
        return {};
    return *a == *b ? 1 : *b / *a;
}

} // namespace lockstep::align
