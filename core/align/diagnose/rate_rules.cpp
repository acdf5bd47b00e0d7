// Family D: the learning rate and its schedule.
#include "core/align/diagnose/rules.h"
#include "core/align/diagnose/script_acts.h"

#include <algorithm>
#include <cmath>

namespace lockstep::align {

namespace {

// The rate of the reference that the suspect uses at each step: lr(t) = lr_ref(1 + k (t - 1)).
std::optional<int> scheduleFactor(const Case& c, int rank, std::uint16_t group)
{
    const std::int64_t last = c.lastStep();
    for (int k = 2; k <= 64; ++k) {
        bool fits = true, moved = false;
        int points = 0;
        for (std::int64_t t = 1; t <= last && 1 + k * (t - 1) <= c.ref().lastStep() && fits; ++t) {
            const auto own = c.sus().value(rank, Quantity::LearningRate, t, group);
            const auto other = c.ref().value(c.refRank(rank), Quantity::LearningRate, 1 + k * (t - 1), group);
            const auto same = c.ref().value(c.refRank(rank), Quantity::LearningRate, t, group);
            if (!own || !other || !same)
                break;
            fits = near(*own, *other, 1e-9) || *own == *other;
            moved = moved || !(near(*own, *same, 1e-9) || *own == *same);
            ++points;
        }
        if (fits && moved && points > 1)
            return k;
    }
    return {};
}

// The ranks train by rates of their own: no factor and no pace, but a schedule that does not run on all of them.
bool ratesOfRanksPart(const Case& c, std::int64_t step, Suspicions& out)
{
    if (c.sus().firstSpread(Quantity::LearningRate, 1) != step)
        return false;
    std::vector<int> off;
    std::string rates;
    for (const int rank : c.sus().ranks()) {
        const double own = c.sus().value(rank, Quantity::LearningRate, step).value_or(NAN);
        rates += fmt::format("{}{:.6g} on rank {}", rates.empty() ? "" : ", ", own, rank);
        if (c.ratio(rank, Quantity::LearningRate, step).value_or(1) != 1)
            off.push_back(rank);
    }
    if (off.empty() || int(off.size()) == c.world())
        return false;
    Suspicion s = suspect(
        "D2", kSignature + 8, step, "learning rate of the ranks",
        fmt::format("From step {} the ranks train by rates of their own: {}; {} {} not the reference's.",
                    step, rates, rankList(off, c.world()), off.size() == 1 ? "has" : "have"),
        Quantity::LearningRate);
    s.sentence = "The schedule does not advance alike on every rank";
    s.fix = "Call the scheduler's step() on every rank";
    s.rank = off.size() == 1 ? off.front() : -1;
    s.excluded.push_back({"D1", "not every rank's rate is off", Quantity::LearningRate, step, s.rank, {}});
    out.push_back(std::move(s));
    return true;
}

// Samples of a step in all, against the reference's.
double samplesFactor(const Case& c, std::int64_t step)
{
    const auto all = [step](const RunTrace& run) {
        double sum = 0;
        for (const int rank : run.ranks())
            sum += run.total(rank, Quantity::Samples, step).value_or(0);
        return sum;
    };
    const double theirs = all(c.ref());
    return theirs > 0 ? all(c.sus()) / theirs : 1;
}

// A schedule that is told a metric takes other decisions once the training has parted for another reason.
bool followsMetric(const Case& c, std::int64_t step)
{
    const std::optional<ScheduleActs> acts = scheduleActs(c.ref(), c.sus());
    return acts && acts->own == acts->theirs && acts->own.find("ReduceLROnPlateau") != std::string::npos &&
           c.start() >= 1 && c.start() < step;
}

void learningRate(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.first(Quantity::LearningRate);
    if (step < 1 || (c.rankByRank() && step != c.start()) ||
        (isUsersScript(c.sus().traits()) && ratesOfRanksPart(c, step, out)) || followsMetric(c, step))
        return;
    const int rank = c.ranksOff(Quantity::LearningRate, step).front();
    std::uint16_t group = 0; // the first whose rate differs
    for (const std::uint16_t index : c.sus().view().indices(rank, Quantity::LearningRate))
        if (const auto ratio = c.ratio(rank, Quantity::LearningRate, step, index); ratio && *ratio != 1) {
            group = index;
            break;
        }
    const double factor = c.ratio(rank, Quantity::LearningRate, step, group).value_or(1);
    double least = factor, most = factor;
    for (std::int64_t t = step; t <= c.lastStep(); ++t)
        if (const auto ratio = c.ratio(rank, Quantity::LearningRate, t, group);
            ratio && std::isfinite(*ratio)) {
            least = std::min(least, *ratio);
            most = std::max(most, *ratio);
        }
    const bool constant = near(least, most, 1e-9);
    const std::optional<int> times = scheduleFactor(c, rank, group);
    const double world = c.sus().traits().ranks();
    if (constant) {
        Suspicion s = suspect(
            "D1", kSignature + (times ? -5 : 5), step, "learning rate",
            fmt::format("From step {} the learning rate is {} times the reference's at every step{}.", step,
                        factorText(factor), near(factor, world, 1e-9) ? ", the number of ranks" : ""),
            Quantity::LearningRate);
        if (!near(factor, world, 1e-9))
            s.solved["k"] = factorText(factor);
        solveStep(s, step);
        s.excluded.push_back(
            {"D2", "the ratio is the same at every step", Quantity::LearningRate, step, -1, {}});
        s.excluded.push_back({"B2", "the gradient is the reference's", Quantity::GradNorm, step, -1, {}});
        out.push_back(std::move(s));
    }
    if (!constant || times) {
        const std::optional<ScheduleActs> acts = scheduleActs(c.ref(), c.sus());
        // A schedule of so many steps as an epoch has batches is as much shorter as the batches are larger.
        if (times && (!acts || acts->calls <= 1) && near(samplesFactor(c, step), *times, 1e-9) &&
            isUsersScript(c.sus().traits()))
            return; // A9
        Suspicion s = suspect(
            "D2", times ? kSignature + 6 : kPattern, step, "learning rate",
            times ? fmt::format("The learning rate at step t is the reference's at step 1 + {} (t - 1).",
                                *times)
                  : fmt::format("From step {} the learning rate leaves the reference's schedule.", step),
            Quantity::LearningRate);
        if (times && double(*times) != world)
            s.solved["k"] = std::to_string(*times);
        if (acts && acts->own != acts->theirs && acts->calls <= 1) {
            s.fit = kSignature + 6;
            s.sentence = "The schedule is made with other parameters";
            s.fix = "Make the scheduler as the reference does; count its steps in optimizer steps";
            s.evidence.push_back({"parameters of the schedule",
                                  fmt::format("{} against {}", acts->own, acts->theirs),
                                  Quantity::LearningRate,
                                  step,
                                  -1,
                                  {}});
            s.fact = fmt::format("It is {}, the reference's {}. {}", acts->own, acts->theirs, s.fact);
        }
        if (acts && acts->calls >= 1)
            s.evidence.push_back({"steps of the schedule",
                                  fmt::format("at most {} in an optimizer step", acts->calls),
                                  std::nullopt,
                                  step,
                                  -1,
                                  {}});
        s.excluded.push_back({"D1",
                              fmt::format("the ratio goes from {:.6g} to {:.6g}", least, most),
                              Quantity::LearningRate,
                              step,
                              -1,
                              {}});
        out.push_back(std::move(s));
    }
}

constexpr Rule kRules[] = {learningRate};

} // namespace

std::span<const Rule> rateRules()
{
    return kRules;
}

} // namespace lockstep::align
