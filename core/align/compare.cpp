#include "core/align/compare.h"

#include "core/align/locate_tensor.h"
#include "core/align/plan.h"
#include "core/align/scan.h"
#include "core/config/key_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace lockstep {

using namespace align;

namespace {

std::vector<ConfigDifference> differingKeys(const RunConfig& a, const RunConfig& b)
{
    std::vector<ConfigDifference> differences;
    for (KeyPair& pair : keyPairs(a, b))
        if (pair.differs())
            differences.push_back({std::move(pair.key), std::move(pair.a), std::move(pair.b)});
    return differences;
}

bool earlier(const FirstDifference& x, const FirstDifference& y)
{
    return std::tie(x.step, x.rank, x.index) < std::tie(y.step, y.rank, y.index);
}

void merge(Distance& into, const Distance& more)
{
    if (more.maxStep >= 0 && (into.maxStep < 0 || more.maxAbsolute > into.maxAbsolute))
        into.maxStep = more.maxStep;
    into.maxAbsolute = std::max(into.maxAbsolute, more.maxAbsolute);
    into.maxRelative = std::max(into.maxRelative, more.maxRelative);
    into.maxUlp = std::max(into.maxUlp, more.maxUlp);
    into.unequal += more.unequal;
}

// What all tasks of one comparison share.
struct Context {
    RunReader& a;
    RunReader& b;
    const CompareOptions& options;
    Tolerance tolerance;
    bool distances = false;
    bool nanEqualsNan = false;
    std::int64_t from = 0; // common stretch, inclusive
    std::int64_t to = -1;
    std::vector<StepPair> pairs; // unless paired by step
    mutable ScanMemory memory;
};

Result<Scan> scan(const Context& context, const Task& task, const QuantityInfo& info)
{
    Judge judge;
    judge.tolerance = context.tolerance;
    judge.type = info.type;
    judge.distances = context.distances && info.type == ValueType::F64;
    judge.nanEqualsNan = context.nanEqualsNan;
    if (context.tolerance.mode == CompareMode::Envelope)
        judge.band = context.options.envelope->band(task.quantity, task.index);
    return context.options.by == PairBy::Step
               ? scanSteps(*task.a, *task.b, context.from, context.to, judge, context.memory)
               : scanPairs(*task.a, *task.b, context.pairs, judge);
}

Result<FirstDifference> describe(const Context& context, const Task& task, const Point& point,
                                 CausalLink link)
{
    FirstDifference first{task.quantity,  task.index, task.tag, point.stepA, point.stepB,
                          task.rank,      {},         point.a,  point.b,     point.missingA,
                          point.missingB, point.limit};
    if (task.rankA >= 0 && !point.missingA && !point.missingB) {
        Result<std::string> name = locateTensor(context.a, task.rankA, point.stepA, context.b, task.rankB,
                                                point.stepB, link, context.tolerance);
        if (!name.ok())
            return name.error();
        first.parameter = std::move(*name);
    }
    return first;
}

// Sample ids come from records of their own, which a run may lack although it has the series. Then every step
// would look missing, which is no difference but nothing to compare.
Result<bool> hasBothSides(const Context& context, const Task& task)
{
    if (task.quantity != Quantity::SampleIds && task.quantity != Quantity::SampleContent)
        return true;
    for (const auto& [source, from] :
         {std::pair(task.a.get(), context.from),
          std::pair(task.b.get(), context.pairs.empty() ? context.from : context.pairs.front().b)}) {
        const Result<Track> some = source->load(from, from + source->window());
        if (!some.ok())
            return some.error();
        if (some->steps.empty())
            return false;
    }
    return true;
}

// Tasks of one quantity, and of one tag, share a result.
QuantityResult& resultOf(Comparison& comparison, const Task& task)
{
    const auto found = std::find_if(comparison.quantities.rbegin(), comparison.quantities.rend(),
                                    [&task](const QuantityResult& result) {
                                        return result.quantity == task.quantity &&
                                               (task.quantity != Quantity::Metric || result.tag == task.tag);
                                    });
    if (found != comparison.quantities.rend())
        return *found;
    return comparison.quantities.emplace_back(
        QuantityResult{task.quantity, task.tag, task.printed, 0, std::nullopt, std::nullopt});
}

Status runTasks(const Context& context, const Plan& plan, Comparison& comparison)
{
    for (const Task& task : plan.tasks) {
        const QuantityInfo& info = *quantityInfo(task.quantity);
        const Result<bool> possible = hasBothSides(context, task);
        if (!possible.ok())
            return possible.error();
        if (!*possible) {
            comparison.notCompared.push_back(
                {task.quantity, "one of the runs did not record which samples it used"});
            continue;
        }
        const Result<Scan> done = scan(context, task, info);
        if (!done.ok())
            return done.error();
        if (done->points == 0) {
            comparison.notCompared.push_back(
                {task.quantity, done->unjudged > 0 ? "the envelope was not measured at these steps"
                                                   : "no step has it in both runs"});
            continue;
        }
        QuantityResult& result = resultOf(comparison, task);
        result.points += done->points;
        if (context.distances && info.type == ValueType::F64) {
            result.distance = result.distance.value_or(Distance());
            merge(*result.distance, done->distance);
        }
        if (!done->first)
            continue;
        Result<FirstDifference> first = describe(context, task, *done->first, info.link);
        if (!first.ok())
            return first.error();
        if (!result.first || earlier(*first, *result.first))
            result.first = std::move(*first);
    }
    return {};
}

Tolerance effectiveTolerance(const CompareOptions& options, RankMatch match)
{
    if (options.tolerance.mode != CompareMode::Automatic)
        return options.tolerance;
    return {match == RankMatch::Whole && options.envelope ? CompareMode::Envelope : CompareMode::Exact, 0};
}

void judge(const Plan& plan, Comparison& comparison)
{
    const bool differs = std::any_of(comparison.quantities.begin(), comparison.quantities.end(),
                                     [](const QuantityResult& result) { return result.first.has_value(); });
    if (differs) {
        comparison.verdict = Verdict::Differ;
    } else if (comparison.quantities.empty()) {
        comparison.reason = "the runs have no quantity and step in common that could be compared";
    } else if (!plan.missingRanks.empty()) {
        comparison.reason = plan.missingRanks;
    } else {
        const bool printed =
            std::any_of(comparison.quantities.begin(), comparison.quantities.end(),
                        [](const QuantityResult& result) { return result.printed.has_value(); });
        comparison.verdict = printed ? Verdict::EqualAsPrinted : Verdict::Equal;
    }
}

} // namespace

const char* verdictName(Verdict verdict)
{
    switch (verdict) {
    case Verdict::Equal:
        return "equal";
    case Verdict::EqualAsPrinted:
        return "equal_to_printed_digits";
    case Verdict::Differ:
        return "differ";
    case Verdict::CannotCompare:
        return "cannot_compare";
    }
    return "cannot_compare";
}

std::vector<FirstDifference> Comparison::first() const
{
    std::vector<FirstDifference> differences;
    for (const QuantityResult& result : quantities) {
        if (result.first)
            differences.push_back(*result.first);
    }
    return differences;
}

const FirstDifference* Comparison::origin() const
{
    const FirstDifference* origin = nullptr;
    for (const QuantityResult& result : quantities) {
        if (result.first && (!origin || result.first->step < origin->step))
            origin = &*result.first;
    }
    return origin;
}

Result<Comparison> compareRuns(RunReader& a, const RunConfig& ca, RunReader& b, const RunConfig& cb,
                               const CompareOptions& options)
{
    if (options.tolerance.mode == CompareMode::Envelope && !options.envelope)
        return Error{ErrorKind::Input, "Cannot compare inside the envelope",
                     "the project has not measured one",
                     "Run lockstep-cli gate DIR gradients, which measures it, or choose another mode"};
    const Result<RunView> viewA = viewRun(a);
    if (!viewA.ok())
        return viewA.error();
    const Result<RunView> viewB = viewRun(b);
    if (!viewB.ok())
        return viewB.error();
    Comparison comparison;
    comparison.by = options.by;
    comparison.config = differingKeys(ca, cb);
    comparison.match = matchRanks(*viewA, ca, *viewB, cb);
    comparison.tolerance = effectiveTolerance(options, comparison.match);
    for (const auto& [view, which] : {std::pair(&*viewA, "A"), std::pair(&*viewB, "B")}) {
        if (view->ranks.empty()) {
            comparison.reason = fmt::format("run {} has recorded nothing", which);
            return comparison;
        }
    }
    const bool imported = viewA->imported && viewB->imported;
    Context context{a, b, options, comparison.tolerance, false, imported, 0, -1, {}, {}};
    context.distances = options.distances || (options.tolerance.mode == CompareMode::Automatic &&
                                              comparison.match == RankMatch::Whole &&
                                              comparison.tolerance.mode == CompareMode::Exact);
    if (options.by == PairBy::Step) {
        context.from = std::max({viewA->firstStep, viewB->firstStep, options.from});
        context.to = std::min(viewA->lastStep, viewB->lastStep);
        if (options.to <= context.to)
            context.to = options.to - 1;
    } else {
        Result<std::vector<StepPair>> pairs = pairSteps(a, b, options.by);
        if (!pairs.ok())
            return pairs.error();
        for (const StepPair& pair : *pairs) {
            if (pair.a >= options.from && pair.a < options.to)
                context.pairs.push_back(pair);
        }
        context.from = context.pairs.empty() ? 0 : context.pairs.front().a;
        context.to = context.pairs.empty() ? -1 : context.pairs.back().a;
    }
    if (context.from > context.to) {
        comparison.reason =
            fmt::format("the runs have no step in common (paired by {})", pairByName(options.by));
        return comparison;
    }
    comparison.firstStep = context.from;
    comparison.lastStep = context.to;
    const Plan plan = makePlan(*viewA, ca, *viewB, cb, comparison.tolerance.mode, options);
    comparison.notCompared = plan.notCompared;
    if (Status compared = runTasks(context, plan, comparison); !compared.ok())
        return compared.error();
    judge(plan, comparison);
    return comparison;
}

} // namespace lockstep
