// What one epoch shows beside its counts: how it compares with the epoch before, with the first epoch and
// with the order Python's sampler would have dealt, and what follows for the cause.
#pragma once

#include "core/gates/coverage.h"
#include "core/gates/data_source.h"
#include "core/gates/text.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// A cause found in the data, or a note: something that is as intended but will be seen later (padding,
// drop_last).
struct DataFinding {
    std::string cause; // catalogue id
    bool note = false;
    std::int64_t epoch = -1;
    std::int64_t step = -1; // first optimizer step it touches
    int rank = -1;          // -1: all
    std::string sentence;
    std::string fix;
    std::vector<EvidenceRow> evidence;
};

// A place in an epoch: per-rank position and the step that uses it.
struct OrderPlace {
    int rank = -1;
    std::int64_t position = -1;
    std::int64_t step = -1;
};

struct OrderComparison {
    bool made = false;
    std::int64_t equalRows = 0;
    std::int64_t rows = 0; // the longer of the two sides
    OrderPlace first;      // first difference by position, then rank; position -1: none
    std::vector<std::int64_t> equalPerRank;

    bool equal() const { return made && equalRows == rows; }
};

// Steps of the axis a sample belongs to.
class StepAxis
{
public:
    explicit StepAxis(const DataPlan& plan) : perStep_(effectiveBatch(plan) * plan.accumulate) {}
    std::int64_t perStep() const { return perStep_; }
    std::int64_t stepAt(const RankIds& rank, std::int64_t position, std::int64_t firstStep) const
    {
        if (rank.steps && rank.count > 0)
            return rank.steps[std::min(std::size_t(position), rank.count - 1)];
        return firstStep + position / perStep_;
    }
    std::int64_t stepsOf(const RankIds& rank) const;

private:
    std::int64_t perStep_;
};

struct EpochReview {
    EpochCoverage coverage;
    std::int64_t firstStep = 1;
    std::int64_t steps = 0;                // optimizer steps of the epoch
    std::vector<std::int64_t> rankSteps;   // per rank
    std::vector<std::int64_t> lastSamples; // per rank: samples in the last step
    std::int64_t fullStep = 0; // samples of all ranks in the first step; 0 where the epoch has no second one
    OrderPlace unequalStep;    // first step whose ranks have different numbers of samples; rank: fewest
    int repeatsPreviousRanks = 0; // ranks whose order equals the epoch before
    std::int64_t repeatsEpoch =
        -1; // the earliest known epoch that all ranks repeat, epoch 0 of a known seed included
    bool sequential = false;          // every rank's ids ascend
    OrderComparison python;           // against the plan without faults
    std::int64_t resumePosition = -1; // F7: from here on the first epoch's order; -1: no such place
    EpochOrder stepped;               // kept only where the source knows the step of each sample

    std::int64_t stepAt(const StepAxis& axis, int rank, std::int64_t position) const
    {
        if (!stepped.ranks.empty() && rank >= 0 && std::size_t(rank) < stepped.ranks.size())
            return axis.stepAt(stepped.ranks[std::size_t(rank)], position, firstStep);
        return firstStep + position / axis.perStep();
    }
};

// Places where samples of the same step and different ranks are counted, the first step of an unequal share
// included.
void reviewSteps(const EpochOrder& order, const StepAxis& axis, std::int64_t firstStep, EpochReview& review);
OrderComparison compareOrders(const EpochOrder& order, const EpochOrder& expected, const StepAxis& axis,
                              std::int64_t firstStep);
// Every rank's ids ascend, padding at the end aside. Fewer than `least` neighbours may ascend by chance.
bool isSequential(const EpochOrder& order, std::size_t least = 16);
// First position from which every rank repeats the first epoch, although it did not before; -1: none. Needs
// at least four repeated rows, so that chance is no explanation.
std::int64_t findResume(const EpochOrder& order, const EpochOrder& first);

} // namespace lockstep
