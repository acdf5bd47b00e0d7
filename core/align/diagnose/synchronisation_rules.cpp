// Family C: what is, or is not, kept equal between ranks. Decided by equality of bits between ranks and between a rank's
// gradient before and after the reduction; most of it needs no reference.
#include "core/align/diagnose/rules.h"
#include "core/align/diagnose/script_acts.h"
#include "core/align/diagnose/unreduced.h"

#include <algorithm>
#include <cmath>

namespace lockstep::align {

namespace {

void initialWeights(const Case& c, Suspicions& out)
{
    if (c.sus().sameOnRanks(Quantity::ParamFingerprint, 0).value_or(true))
        return;
    Suspicion s;
    s.cause = "C7";
    s.fit = kSignature + 8;
    s.step = 0;
    s.fact = "The fingerprints of the parameters differ between ranks before the first step.";
    for (const int rank : c.sus().ranks())
        s.evidence.push_back(
            {fmt::format("parameters of rank {} at step 0", rank),
             fmt::format("{:016x}", c.sus().bits(rank, Quantity::ParamFingerprint, 0).value_or(0)),
             Quantity::ParamFingerprint,
             0,
             rank,
             {}});
    s.excluded.push_back(
        {"B8", "the weights differ before any gradient was reduced", Quantity::ParamFingerprint, 0, -1, {}});
    out.push_back(std::move(s));
}

// Ranks that took the step with their own gradient: no bit was changed by a reduction although the ranks' gradients differ.
std::vector<int> unreducedRanks(const Case& c, std::int64_t step)
{
    std::vector<int> alone;
    const bool differ = !c.sus().sameOnRanks(Quantity::GradNormLocal, step).value_or(true);
    for (const int rank : c.sus().ranks()) {
        const std::optional<Relation> own = c.ownLocal(rank, step);
        if (differ && own && own->equal)
            alone.push_back(rank);
    }
    return alone;
}

Evidence spreadRow(const Case& c, std::int64_t step)
{
    const std::int64_t at = c.sus().firstSpread(Quantity::ParamFingerprint, 1);
    return {"parameters of the ranks",
            at < 0 ? "equal on all ranks at every step"
                   : fmt::format("first differ between ranks at step {}", at),
            Quantity::ParamFingerprint,
            at < 0 ? step : at,
            -1,
            {}};
}

std::optional<Evidence> collectiveRow(const Case& c, std::int64_t step)
{
    const int rank = c.sus().ranks().front();
    const auto own = c.sus().value(rank, Quantity::CollectiveBytes, step);
    if (!own)
        return {};
    const auto before = c.sus().value(rank, Quantity::CollectiveBytes, step - 1);
    const auto reference = c.ref().traits().single || c.ref().traits().replayed
                               ? std::nullopt
                               : c.ref().value(c.refRank(rank), Quantity::CollectiveBytes, step);
    std::string text = fmt::format("{:g} bytes", *own);
    if (reference)
        text += fmt::format(", the reference {:g}", *reference);
    else if (before)
        text += fmt::format(", the step before {:g}", *before);
    return Evidence{"collectives of the step", text, Quantity::CollectiveBytes, step, rank, {}};
}

// The first step at which the ranks end the reduction with different gradients; in a correct run there is none. -1: none,
// or the runs had parted before it for another reason.
std::int64_t spreadStep(const Case& c)
{
    if (c.world() < 2)
        return -1;
    const ParameterAveraging averaging = parameterAveraging(c.sus());
    if (averaging.first >= 0)
        return averaging.stopped;
    const std::int64_t step = c.sus().firstSpread(Quantity::GradNorm, 1);
    const bool own = !c.rankByRank() || step == c.start() || step == unfreezing(c.sus()).step;
    return step >= 1 && own ? step : -1;
}

void notReduced(const Case& c, Suspicions& out)
{
    const std::int64_t step = spreadStep(c);
    if (step < 1 || c.differsAt(Quantity::SampleIds, step) ||
        reductionActs(c.sus(), step)) // told: script_rules.cpp
        return;
    const std::vector<int> alone = unreducedRanks(c, step);
    if (alone.empty())
        return;
    const bool buffers = batchStatistics(c.sus());
    const auto add = [&](const char* cause, int fit) {
        Suspicion s;
        s.cause = cause;
        s.fit = fit;
        s.step = step;
        if (!buffers) // nothing is sent besides gradients
            s.sameBits = "unreduced";
        s.rank = int(alone.size()) == 1 ? alone.front() : -1;
        s.fact = fmt::format("From step {} {} keeps its own gradient, bit for bit.", step,
                             rankList(alone, c.world()));
        s.evidence.push_back({"gradient after reduction against the rank's own",
                              "equal in every bit",
                              Quantity::GradNorm,
                              step,
                              alone.front(),
                              {}});
        s.evidence.push_back(spreadRow(c, step));
        if (const auto row = collectiveRow(c, step))
            s.evidence.push_back(*row);
        s.excluded.push_back({"C11", "nothing arrived at all", Quantity::GradNorm, step, -1, {}});
        s.excluded.push_back({"C10", "no parameter was reduced", Quantity::GradNorm, step, -1, {}});
        solveStep(s, step);
        if (s.rank >= 0)
            s.solved["rank"] = std::to_string(s.rank);
        out.push_back(std::move(s));
    };
    // Buffers tell whose broadcasts went on: C1 sends none, B8 those of its first step, C2 and C6 all.
    const auto sent = [&](std::int64_t at) {
        return c.sus().value(c.sus().ranks().front(), Quantity::CollectiveCount, at);
    };
    const bool told = buffers && sent(step) && sent(step + 1);
    const bool now = told && *sent(step) > 0, later = told && *sent(step + 1) > 0;
    const auto weigh = [&](int fit, bool fits) { return !told ? fit : fits ? kSignature + 5 : kRemainder; };
    const double micros = c.sus().value(c.sus().ranks().front(), Quantity::MicroSteps, step).value_or(1);
    // Without a wrapper it is the script that does not reduce; of one whose ways change too often to be told all stays open.
    if (isUsersScript(c.sus().traits()) && !hasWrapper(c.sus()))
        return add("B8", kSignature + 5);
    add("B8", weigh(step == 1 ? kSignature + 3 : kSignature, now && !later));
    add("C1", weigh(step == 1 ? kSignature + 2 : kSignature - 1, !now && !later));
    add("C2", weigh(step > 2 ? kSignature + 3 : kSignature - 2, later));
    if (micros > 1 && step == 2)
        add("C6", weigh(kSignature + 4, later) + 1); // rarer settings, so the sharper match
}

// The flag for synchronising is set too late: the first micro-batch is reduced, the others are added on each rank alone.
void firstMicroReduced(const Case& c, Suspicions& out)
{
    const std::int64_t step = spreadStep(c);
    if (step < 1 || reductionActs(c.sus(), step) || !unreducedRanks(c, step).empty() ||
        unfreezing(c.sus()).step == step || (c.rankByRank() && c.link() != CausalLink::PreReduction))
        return;
    const double micros = c.sus().value(c.sus().ranks().front(), Quantity::MicroSteps, step).value_or(1);
    const std::optional<Relation> local = c.localMean(step);
    if (micros < 2 || !local || local->same(c.precision()))
        return;
    const TensorCount off = tensorsOff(c, step, &TensorRecord::localFingerprint);
    Suspicion s;
    s.cause = "B7";
    s.fit = off.all == 0 ? kSignature - 2 : off.names.size() == off.all ? kSignature + 5 : kRemainder;
    s.step = step;
    s.fact = fmt::format(
        "From step {} what is reduced is not the sum of the {:g} micro-batches, and the ranks end with "
        "different gradients.",
        step, micros);
    s.evidence.push_back({"gradient that entered the reduction, mean of the ranks",
                          fmt::format("{:.6g} times the reference, {:.2e} of it in another direction",
                                      local->ratio, local->residual),
                          Quantity::GradNormLocal,
                          step,
                          -1,
                          {}});
    s.evidence.push_back(spreadRow(c, step));
    if (const auto row = collectiveRow(c, step))
        s.evidence.push_back(*row);
    s.excluded.push_back({"B8",
                          "the gradient is not the rank's own: part of it was reduced",
                          Quantity::GradNorm,
                          step,
                          -1,
                          {}});
    s.excluded.push_back(
        {"B6", "no one factor explains the gradient", Quantity::GradNormLocal, step, -1, {}});
    solveStep(s, step);
    out.push_back(std::move(s));
}

// Part of the gradient was reduced: some parameters are not known to DDP.
void partlyReduced(const Case& c, Suspicions& out)
{
    const std::int64_t step = spreadStep(c);
    if (step < 1 || c.differsAt(Quantity::SampleIds, step) || !unreducedRanks(c, step).empty())
        return;
    for (const int rank : c.sus().ranks()) { // every rank keeps its own part: none has the mean
        const std::optional<Relation> own = c.ownReduction(rank, step);
        if (!own || own->same(c.precision()))
            return;
    }
    Unreduced names = unreducedParameters(c, step);
    const Unfreezing unfroze = unfreezing(c.sus());
    const bool thawed = unfroze.step == step, script = isUsersScript(c.sus().traits());
    if (thawed && !unfroze.names.empty())
        names.names = unfroze.names;
    const double micros = c.sus().value(c.sus().ranks().front(), Quantity::MicroSteps, step).value_or(1);
    const auto add = [&](const char* cause, int fit) {
        Suspicion s;
        s.cause = cause;
        s.fit = fit;
        s.step = step;
        if (!names.names.empty()) {
            s.parameter = names.names.front();
            s.solved["param"] = names.prefix();
            std::string list;
            for (std::size_t i = 0; i < names.names.size() && i < 4; ++i)
                list += (i ? ", " : "") + names.names[i];
            s.fact = fmt::format("From step {} {} parameters keep each rank's own gradient: {}{}.", step,
                                 names.names.size(), list, names.names.size() > 4 ? ", ..." : "");
        } else {
            s.fact = fmt::format("From step {} the ranks end the reduction with different gradients.", step);
        }
        s.evidence.push_back(
            {"gradient after reduction", "differs between ranks", Quantity::GradNorm, step, -1, s.parameter});
        s.evidence.push_back(spreadRow(c, step));
        if (const auto row = collectiveRow(c, step))
            s.evidence.push_back(*row);
        s.excluded.push_back({"B8", "most of the gradient was reduced", Quantity::GradNorm, step, -1, {}});
        s.excluded.push_back(
            {"C11", "every rank has gradients of its own", Quantity::GradNorm, step, -1, {}});
        solveStep(s, step);
        out.push_back(std::move(s));
    };
    const std::size_t count = names.names.size();
    // What went in is the reference's; what DDP does not know did not go in.
    const bool wholeLocal = c.first(Quantity::GradNormLocal) != step || (script && names.unknown);
    if (thawed || (names.newGradient && !script)) // a script's thawing is told
        return add("C4", kSignature + 8);
    if (wholeLocal && names.wholeModel && script)
        return add("C10", kSignature + 5); // nothing of it was ever wrapped
    if (wholeLocal) {
        add("C3", count == 1 ? kSignature + 3 : count == 0 ? kPattern + 12 : kRemainder + 20);
        add("C10", count > 1 ? kSignature + 3 : kPattern + 13);
        if (step > 1 && !(script && names.unknown))
            add("C4", kPattern + 8);
    }
    if (micros > 1)
        add("C5", wholeLocal ? kPattern + 10 : kSignature + 4);
}

// Every rank's gradients went in, and what came out is not their mean.
void reductionLost(const Case& c, Suspicions& out)
{
    const std::int64_t spread = spreadStep(c);
    const std::int64_t step = spread > 0 ? spread : c.start();
    if (step < 1 || c.world() < 2 || !unreducedRanks(c, step).empty() ||
        (c.rankByRank() && c.link() != CausalLink::Reduced))
        return;
    // DDP shows the gradient of a parameter before the reduction only where the last backward pass used it.
    const std::optional<Relation> whole = c.reduced(c.sus().ranks().front(), step);
    if (isUsersScript(c.sus().traits()) && spread < 0 && whole && whole->same(c.precision()))
        return; // what came out is the reference's
    std::vector<int> wrong;
    double worst = 0, factor = 1;
    bool proportional = true;
    for (const int rank : c.sus().ranks()) {
        const std::optional<Relation> reduced = c.ownReduction(rank, step);
        if (!reduced)
            return;
        if (reduced->same(c.precision()))
            continue;
        wrong.push_back(rank);
        worst = std::max(worst, reduced->distance);
        factor = reduced->ratio;
        proportional = proportional && reduced->proportional(c.precision());
    }
    const bool all = int(wrong.size()) == c.world();
    // What hits all ranks alike can be the rounding of a narrower format, or one factor.
    if (wrong.empty() || (all && worst < 0x1p-5) || (all && proportional && !near(factor, 1, 1e-4)))
        return;
    Suspicion s;
    s.cause = "C11";
    s.open = isUsersScript(c.sus().traits()); // a script may have changed the gradient itself
    s.fit = !all ? kSignature + 5 : spread < 0 ? kPattern : kRemainder;
    s.step = step;
    s.rank = wrong.size() == 1 ? wrong.front() : -1;
    s.fact = fmt::format(
        "At step {} {} got {:.2g} of the gradient's size wrong out of the reduction; what went in is "
        "right.",
        step, rankList(wrong, c.world()), worst);
    s.evidence.push_back({"gradient after reduction against the mean of what went in",
                          fmt::format("{:.2e} of its size off on {}", worst, rankList(wrong, c.world())),
                          Quantity::GradNorm,
                          step,
                          s.rank,
                          {}});
    s.evidence.push_back(spreadRow(c, step));
    s.excluded.push_back({"B8", "the gradient is not the rank's own", Quantity::GradNorm, step, -1, {}});
    if (!all)
        s.excluded.push_back({"E2", "other ranks got the mean", Quantity::GradNorm, step, -1, {}});
    solveStep(s, step);
    if (s.rank >= 0)
        s.solved["rank"] = std::to_string(s.rank);
    out.push_back(std::move(s));
}

// Only buffers differ; the parameters go on as in the reference.
void buffersDiverge(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.first(Quantity::BufferFingerprint);
    if (!c.rankByRank() || step < 1 || step != c.start() || c.link() != CausalLink::Buffers)
        return;
    const std::vector<int> off = c.ranksOff(Quantity::BufferFingerprint, step);
    const bool leaderHolds = std::find(off.begin(), off.end(), c.sus().ranks().front()) == off.end();
    Suspicion s;
    s.cause = "C9";
    s.fit = leaderHolds ? kSignature + 5 : kPattern;
    s.step = step;
    s.fact = fmt::format(
        "From step {} the buffers of {} are not the reference's; rank {}'s are, and so are all parameters.",
        step, rankList(off, c.world()), c.sus().ranks().front());
    if (!leaderHolds)
        s.fact = fmt::format("From step {} the buffers of {} are not the reference's; all parameters are.",
                             step, rankList(off, c.world()));
    s.evidence.push_back(
        {"fingerprint of buffers", s.fact, Quantity::BufferFingerprint, step, off.front(), {}});
    s.evidence.push_back(spreadRow(c, step));
    s.excluded.push_back({"B8", "the gradients are reduced", Quantity::GradNorm, step, -1, {}});
    s.excluded.push_back(
        {"E3", "the sender's buffers are the reference's", Quantity::BufferFingerprint, step, 0, {}});
    out.push_back(std::move(s));
}

constexpr Rule kRules[] = {initialWeights, notReduced,    firstMicroReduced,
                           partlyReduced,  reductionLost, buffersDiverge};

} // namespace

std::span<const Rule> synchronisationRules()
{
    return kRules;
}

} // namespace lockstep::align
