#include "core/gates/data_judge.h"

#include "core/gates/content_table.h"
#include "core/gates/data_checks.h"
#include "core/gates/data_findings.h"
#include "core/sampling/samplers.h"

#include <algorithm>
#include <chrono>
#include <memory>

namespace lockstep {

namespace {

constexpr std::size_t kHead = 8; // ids of an order that are shown
constexpr std::size_t kKeptRows = 64u
                                  << 20; // orders up to this size are kept for comparison with later epochs

std::vector<std::int64_t> headOf(const RankIds& rank, const DataFacts& facts)
{
    std::vector<std::int64_t> ids;
    for (std::size_t p = 0; p < std::min(kHead, rank.count); ++p)
        ids.push_back(facts.originalId(rank[p]));
    return ids;
}

// What the plan says about one epoch, without any planted fault.
DataPlan intention(const DataPlan& plan)
{
    DataPlan clean = plan;
    clean.faults.clear();
    return clean;
}

class Judge
{
public:
    Judge(DataSource& source, const DataPlan& plan)
        : source_(source),
          plan_(plan),
          clean_(intention(plan)),
          contents_(source.facts().datasetSize),
          review_{&source.facts(), &plan, {}, &contents_, {}, {}, StepAxis(plan)}
    {
        const DataFacts& facts = source.facts();
        orderKnown_ =
            plan.samplerSeedKnown && facts.world == plan.world && facts.datasetSize == plan.datasetSize;
        isPlan_ = facts.simulated && plan.faults.empty();
    }

    Result<DataVerdict> run(const DataProgress& progress)
    {
        const std::int64_t total = source_.facts().epochs;
        for (std::int64_t e = 0; e < total; ++e) {
            Result<EpochOrder> order = source_.load(e);
            if (!order)
                return order.error();
            add(*order);
            if (progress && !progress(e + 1, total))
                return Error{ErrorKind::Cancelled, "The data gate was not judged",
                             "it was stopped on request", ""};
        }
        if (contents_.conflicts() > 0) {
            Result<EpochOrder> order = source_.load(0);
            if (!order)
                return order.error();
            contents_.locateFirst(*order);
        }
        if (clean_.shuffle && clean_.samplerSeedKnown && total > 1)
            review_.expectedHead = expectedHead(review_.epochs[1].coverage.epoch);
        DataVerdict verdict;
        verdict.findings = findCauses(review_);
        verdict.checks = dataChecks(review_, verdict.findings);
        verdict.verdict = gateVerdict(verdict.checks);
        for (const EpochReview& epoch : review_.epochs) {
            const EpochCoverage& c = epoch.coverage;
            verdict.epochs.push_back(
                {c.epoch, c.rows, c.distinct, c.overlapped, c.padding, c.omitted, epoch.firstStep,
                 epoch.steps, clean_.shuffle && epoch.repeatsPreviousRanks > 0 && !epoch.python.equal()});
        }
        return verdict;
    }

private:
    void add(const EpochOrder& order)
    {
        EpochReview review;
        review.coverage = coverEpoch(order, source_.facts().datasetSize);
        const std::int64_t firstStep =
            review_.epochs.empty() ? 1 : review_.epochs.back().firstStep + review_.epochs.back().steps;
        reviewSteps(order, review_.axis, firstStep, review);
        if (order.ranks.front().steps) {
            review.stepped = order;
            if (order.ranks.front().count > 0)
                review.firstStep = order.ranks.front().steps[0];
        }
        if (!review_.epochs.empty()) {
            const std::vector<std::uint64_t>& before = review_.epochs.back().coverage.sequences;
            for (std::size_t r = 0; r < std::min(before.size(), order.ranks.size()); ++r)
                review.repeatsPreviousRanks +=
                    order.ranks[r].count > 0 && before[r] == review.coverage.sequences[r];
        }
        review.sequential = isSequential(order);
        if (isPlan_) {
            // Simulating it once more to compare it with itself would prove nothing.
            review.python.made = true;
            review.python.rows = review.python.equalRows = review.coverage.rows;
            review.python.equalPerRank = review.coverage.counts;
        } else if (orderKnown_) {
            const EpochOrder expected = simulateEpoch(clean_, order.epoch);
            review.python = compareOrders(order, expected, review_.axis, review.firstStep);
        }
        // A run that was resumed later: what epoch 0 looked like follows from the plan.
        if (!first_ && orderKnown_ && order.epoch > 0 && order.rows() <= kKeptRows)
            first_ = std::make_unique<EpochOrder>(simulateEpoch(clean_, 0));
        if (first_ && !review.python.equal()) {
            review.resumePosition = findResume(order, *first_);
            if (order.epoch > first_->epoch &&
                compareOrders(order, *first_, review_.axis, review.firstStep).equal())
                review.repeatsEpoch = first_->epoch;
        }
        if (!first_ && order.rows() <= kKeptRows)
            first_ = std::make_unique<EpochOrder>(order);
        contents_.add(order);
        review_.heads.push_back(headOf(order.ranks.front(), source_.facts()));
        review_.epochs.push_back(std::move(review));
    }

    std::vector<std::int64_t> expectedHead(std::int64_t epoch) const
    {
        DistributedOrder sampler{.datasetSize = clean_.datasetSize,
                                 .world = clean_.world,
                                 .shuffle = true,
                                 .dropLast = clean_.dropLast,
                                 .seed = clean_.samplerSeed,
                                 .epoch = epoch};
        return rankOrderHead(sampler, 0, std::int64_t(kHead));
    }

    DataSource& source_;
    const DataPlan& plan_;
    const DataPlan clean_;
    ContentTable contents_;
    DataReview review_;
    bool orderKnown_ = false;
    bool isPlan_ = false; // the source is the plan's own simulation
    std::unique_ptr<EpochOrder> first_;
};

} // namespace

Result<DataVerdict> judgeData(DataSource& source, const DataPlan& plan, const DataProgress& progress)
{
    const DataFacts& facts = source.facts();
    if (facts.epochs == 0 || facts.world == 0)
        return Error{ErrorKind::Input, "The data gate cannot be judged", facts.name + " contains no samples",
                     "Record at least one epoch of every rank"};
    try {
        return Judge(source, plan).run(progress);
    } catch (const std::bad_alloc&) {
        return Error{ErrorKind::Environment, "The data gate cannot be judged",
                     "there is not enough memory for the orders of " + facts.name,
                     "Judge fewer epochs at once"};
    }
}

GateInfo dataGate(const DataVerdict& verdict, const DataPlan& plan)
{
    GateInfo gate;
    gate.phase = "data";
    gate.verdict = verdict.verdict;
    gate.judgedUnixMs = std::chrono::duration_cast<std::chrono::milliseconds>(
                            std::chrono::system_clock::now().time_since_epoch())
                            .count();
    gate.checks = verdict.checks;
    gate.configJson = toJson(plan);
    return gate;
}

} // namespace lockstep
