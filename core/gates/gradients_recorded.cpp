#include "core/gates/gradients_recorded.h"

#include "core/gates/gradients_checks.h"
#include "core/gates/gradients_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

namespace lockstep {

namespace {

constexpr std::array<std::string_view, 3> kEnvelopeChecks = {"gradients.loss", "gradients.grad_norm",
                                                             "gradients.update_norm"};

// Bits of a series of rank 0; empty where it was not recorded.
Result<std::vector<std::uint64_t>> bitsOfSeries(RunReader& run, Quantity quantity, std::int64_t from,
                                                std::int64_t to)
{
    Result<SeriesData> data = run.read({0, quantity, 0}, from, to);
    if (!data)
        return data.error().kind == ErrorKind::NotFound ? Result(std::vector<std::uint64_t>()) : data.error();
    return std::move(data->bits);
}

// Whether what the envelope is about came out the same in all repeats.
Result<bool> equalInEveryBit(const std::vector<RunReader*>& repeats)
{
    for (const Quantity quantity : {Quantity::Loss, Quantity::GradNorm, Quantity::UpdateNorm}) {
        std::set<std::vector<std::uint64_t>> seen;
        for (RunReader* run : repeats) {
            Result<std::vector<std::uint64_t>> bits = bitsOfSeries(*run, quantity, 1, INT64_MAX);
            if (!bits)
                return bits.error();
            seen.insert(std::move(bits).value());
        }
        if (seen.size() > 1)
            return false;
    }
    return true;
}

Result<std::int64_t> lastStep(RunReader& run)
{
    Result<SeriesData> loss = run.read({0, Quantity::Loss, 0});
    if (!loss)
        return loss.error().kind == ErrorKind::NotFound ? Result(std::int64_t(0)) : loss.error();
    return loss->steps.empty() ? 0 : loss->steps.back();
}

} // namespace

Result<bool> repeatsBaseline(RunReader& baseline, RunReader& run)
{
    const Result<std::int64_t> steps = lastStep(baseline);
    const Result<std::int64_t> others = lastStep(run);
    if (!steps)
        return steps.error();
    if (!others)
        return others.error();
    if (*steps < 1 || *steps != *others)
        return false;
    const auto a = bitsOfSeries(baseline, Quantity::ParamFingerprint, 0, 1);
    const auto b = bitsOfSeries(run, Quantity::ParamFingerprint, 0, 1);
    if (!a)
        return a.error();
    if (!b)
        return b.error();
    if (*a != *b)
        return false;
    const Result<std::optional<SampleAgreement>> samples = compareSamples(baseline, run, 1, *steps);
    if (!samples)
        return samples.error();
    return !samples->has_value() || (*samples)->equal();
}

// Losses and gradients of other samples differ rightly.
Status GradientsChecks::sameBatches()
{
    const GradientsRecord* a = record(Role::Baseline);
    const GradientsRecord* b = record(Role::Ddp);
    if (!a || !b)
        return {};
    const Result<std::int64_t> stepsA = lastStep(*a->reader);
    const Result<std::int64_t> stepsB = lastStep(*b->reader);
    if (!stepsA)
        return stepsA.error();
    if (!stepsB)
        return stepsB.error();
    const Result<std::optional<SampleAgreement>> samples =
        compareSamples(*a->reader, *b->reader, b->config.world, std::min(*stepsA, *stepsB));
    if (!samples)
        return samples.error();
    if (samples->has_value() && !(*samples)->equal())
        unequal_ =
            fmt::format("The two runs train on other samples from step {} on; numbers of other samples "
                        "differ rightly. Give both the same global batches first (phase 1).",
                        (*samples)->firstStep);
    return {};
}

// The envelope of a script is made of the repeats that somebody recorded.
Status GradientsChecks::overRounding(const std::string& howToRepeat)
{
    std::vector<RunReader*> repeats;
    for (const GradientsRecord& r : records_)
        if (r.role == Role::Baseline || r.role == Role::Repeat)
            repeats.push_back(r.reader);
    const bool judged = unequal_.empty() && !statistics_;
    if (judged && int(repeats.size()) < kMinRepeats) {
        for (const std::string_view id : kEnvelopeChecks) {
            cannotJudge(id.data(),
                        fmt::format("How far apart correct runs of this script lie is measured from {} "
                                    "runs of one process; {} {} recorded.",
                                    kMinRepeats, repeats.size(), repeats.size() == 1 ? "is" : "are"));
            gate_.checks.back().fix = howToRepeat;
        }
        return {};
    }
    if (judged) {
        const Result<bool> equal = equalInEveryBit(repeats);
        if (!equal)
            return equal.error();
        if (*equal) {
            for (const std::string_view id : kEnvelopeChecks) {
                cannotJudge(id.data(),
                            fmt::format("The {} runs of one process are equal in every bit, so they "
                                        "say nothing of rounding. The four decimals decide.",
                                        repeats.size()));
            }
            silent_ = true;
            return {};
        }
    }
    return insideEnvelope();
}

// Rounding that grows from step to step reaches the fourth decimal in correct runs too. Where the runs start alike, in loss
// and gradient, what repeats of the single run differ by decides over the batches that follow.
void GradientsChecks::leaveDriftToEnvelope(const std::string& howToRepeat)
{
    const auto of = [this](std::string_view id) {
        return std::find_if(gate_.checks.begin(), gate_.checks.end(),
                            [id](const GateCheck& check) { return check.id == id; });
    };
    const auto ten = of("gradients.first_ten"), first = of("gradients.first_batch"),
               reduction = of("gradients.reduction"), loss = of("gradients.loss");
    const auto end = gate_.checks.end();
    if (ten == end || first == end || reduction == end || loss == end || ten->verdict != "fail" ||
        ten->step < 2 || first->verdict != "pass" || reduction->verdict != "pass" || silent_ ||
        loss->verdict == "fail")
        return;
    if (loss->verdict == "pass") {
        ten->verdict = "pass";
        ten->sentence = fmt::format("Batch {} differs in the fourth decimal, inside the envelope of the "
                                    "repeats: rounding that grows.",
                                    ten->step);
        ten->fix.clear();
        return;
    }
    ten->verdict = "cannot_judge";
    ten->sentence = fmt::format("The first batch and its gradient agree, batch {} differs in the fourth "
                                "decimal. Whether that is more "
                                "than rounding is measured from {} runs of one process.",
                                ten->step, kMinRepeats);
    ten->fix = howToRepeat;
}

// A script adds collectives of its own where it likes, to print a mean or to wait at the end of an epoch: the number may
// change from step to step, but not from rank to rank, and no step goes without.
Status GradientsChecks::collectivesOfScript()
{
    constexpr const char* id = "gradients.collectives";
    const GradientsRecord* run = record(Role::Ddp);
    if (!run) {
        cannotJudge(id, "A run this check needs is missing.");
        return {};
    }
    const Result<RankAgreement> ranks = agreement(*run->reader, Quantity::CollectiveCount);
    if (!ranks)
        return ranks.error();
    if (ranks->ranks < 2 || ranks->steps == 0) {
        cannotJudge(id, "The run recorded no collectives of several ranks.");
        return {};
    }
    const Result<SeriesData> counts = run->reader->read({0, Quantity::CollectiveCount, 0}, 1, INT64_MAX);
    if (!counts)
        return counts.error();
    const auto [least, most] = std::minmax_element(counts->bits.begin(), counts->bits.end());
    const bool holds = !ranks->first && *least > 0;
    GateCheck& check =
        add(id, holds,
            *least == *most ? fmt::format("{} per step", *least)
                            : fmt::format("{} to {} per step", *least, *most),
            "at least 1, the same on every rank", "A step without its all-reduce trains every rank alone.");
    if (ranks->first) {
        check.step = ranks->first->step;
        check.rank = ranks->first->rank;
    } else if (*least == 0) {
        check.step = counts->steps[std::size_t(least - counts->bits.begin())];
    }
    if (!holds)
        check.fix = "Call the wrapped module and leave no_sync before the last backward of a step";
    return {};
}

void GradientsChecks::leaveToEngine()
{
    cannotJudge("gradients.world_one",
                "DDP with one rank is a run of the engine's workloads; a script of one's own is not started "
                "by the gate.");
    cannotJudge(
        "gradients.twin",
        "The twin replays the ranks of the engine's workloads; it cannot replay a script of one's own.");
}

Result<GateInfo> GradientsChecks::judgeRecorded(const std::string& howToRepeat)
{
    gate_.phase = "gradients";
    gate_.configJson = toJson(base_);
    if (const GradientsRecord* one = record(Role::Baseline)) {
        const Result<bool> statistics = hasBatchStatistics(*one->reader);
        if (!statistics && statistics.error().kind != ErrorKind::NotFound)
            return statistics.error();
        statistics_ = statistics.ok() && *statistics;
    }
    for (const Status& done :
         {sameBatches(), publishedRule(), reduction(), overRounding(howToRepeat),
          ranksEqual(Role::Ddp, "gradients.ranks_equal"), collectivesOfScript(), unused()})
        if (!done)
            return done.error();
    leaveDriftToEnvelope(howToRepeat);
    leaveToEngine();
    for (GateCheck& check : gate_.checks) {
        const bool ofPair = check.id == "gradients.first_batch" || check.id == "gradients.first_ten" ||
                            check.id == "gradients.reduction";
        // SyncBatchNorm holds; BatchNorm of its own on every rank is another function, by design.
        if (statistics_ && ofPair && check.verdict == "fail") {
            check.verdict = "cannot_judge";
            check.sentence += " The model has batch statistics, which every rank forms from its own samples.";
            check.fix = "Record both runs once more with BatchNorm in evaluation mode, or with SyncBatchNorm";
        }
        if (check.id == "gradients.unused" && check.verdict == "cannot_judge")
            check.fix = "Record the run of several ranks with --record tensor";
    }
    gate_.verdict = verdictOf(gate_.checks, [this](const GateCheck& check) {
        const bool envelope =
            std::find(kEnvelopeChecks.begin(), kEnvelopeChecks.end(), check.id) != kEnvelopeChecks.end();
        return check.id == "gradients.world_one" || check.id == "gradients.twin" ||
               check.id == "gradients.unused" || (envelope && (statistics_ || silent_));
    });
    return gate_;
}

Result<GateInfo> judgeRecordedGradients(const std::vector<GradientsRecord>& records,
                                        const std::string& howToRepeat)
{
    const auto ddp = std::find_if(records.begin(), records.end(), [](const GradientsRecord& record) {
        return record.role == GradientsRun::Role::Ddp;
    });
    if (ddp == records.end())
        return Error{ErrorKind::Input, "Phase 2 cannot be judged", "no run of several ranks is recorded",
                     "Record one with lockstep-cli probe"};
    RunConfig base = ddp->config;
    base.workloadOptions.try_emplace("script", base.workload);
    return GradientsChecks(base, records).judgeRecorded(howToRepeat);
}

} // namespace lockstep
