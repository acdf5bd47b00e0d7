// Where the orders that are judged come from: a simulated plan, an id list, the records of a run.
#pragma once

#include "core/align/diagnose/evaluation_counts.h"
#include "core/base/status.h"
#include "core/gates/data_plan.h"
#include "core/gates/epoch_order.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct DataFacts {
    std::string name; // "plan", "ids.csv", "run ddp-w2-01"
    bool simulated = false;
    int world = 1;
    std::int64_t datasetSize = 0;
    bool sizeKnown = true; // false: taken from the largest id seen
    bool hasLength = true; // false: a stream (IterableDataset), samplers do not apply to it
    std::int64_t epochs = 0;
    std::vector<StreamDraw> draws;                     // empty: not known
    std::optional<align::EvaluationCounts> evaluation; // of a run that evaluated its model
    bool randomUsed = true; // false: the run drew nothing from its ranks' generators in any step
    // Dense id -> the id as given, where the source's ids have gaps; empty: the same.
    std::vector<std::int64_t> originalIds;

    std::int64_t originalId(std::uint32_t id) const
    {
        return originalIds.empty() ? std::int64_t(id) : originalIds[id];
    }
};

// One thread at a time.
class DataSource
{
public:
    virtual ~DataSource() = default;
    virtual const DataFacts& facts() const = 0;
    // Epochs by place, 0..facts().epochs-1.
    virtual Result<EpochOrder> load(std::int64_t index) = 0;
};

// The simulation of `plan`, planted faults included.
class PlanSource : public DataSource
{
public:
    // The plan must be valid.
    explicit PlanSource(DataPlan plan);
    const DataFacts& facts() const override { return facts_; }
    Result<EpochOrder> load(std::int64_t index) override;

private:
    DataPlan plan_;
    DataFacts facts_;
};

// Orders that are all in memory: id lists and recorded runs.
class MemorySource : public DataSource
{
public:
    MemorySource(DataFacts facts, std::vector<EpochOrder> epochs);
    const DataFacts& facts() const override { return facts_; }
    Result<EpochOrder> load(std::int64_t index) override;

private:
    DataFacts facts_;
    std::vector<EpochOrder> epochs_;
};

// Whether any epoch deals its ids in another order than ascending. For orders whose sampler nobody declared: what a list or
// a script's own sampler shows of shuffling.
Result<bool> isShuffled(DataSource& source);

} // namespace lockstep
