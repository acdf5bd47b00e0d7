#include "core/gates/data_source.h"

#include "core/gates/epoch_review.h"

#include <fmt/format.h>

#include <cassert>
#include <new>
#include <utility>

namespace lockstep {

PlanSource::PlanSource(DataPlan plan) : plan_(std::move(plan))
{
    assert(validate(plan_).ok());
    facts_.name = "plan";
    facts_.simulated = true;
    facts_.world = plan_.world;
    facts_.datasetSize = plan_.datasetSize;
    facts_.hasLength = plan_.fault("A2") == nullptr;
    facts_.epochs = plan_.epochs;
    facts_.draws = simulateDraws(plan_);
}

Result<EpochOrder> PlanSource::load(std::int64_t index)
{
    try {
        // What a sample contains is known to the real loader only; a planted A7 shows what it would look
        // like.
        return simulateEpoch(plan_, index, plan_.fault("A7") != nullptr);
    } catch (const std::bad_alloc&) {
        return Error{ErrorKind::Environment, fmt::format("Epoch {} cannot be simulated", index),
                     fmt::format("there is not enough memory for the order of {} samples", plan_.datasetSize),
                     "Close other programs, or judge a smaller dataset"};
    }
}

MemorySource::MemorySource(DataFacts facts, std::vector<EpochOrder> epochs)
    : facts_(std::move(facts)), epochs_(std::move(epochs))
{
    facts_.epochs = std::int64_t(epochs_.size());
}

Result<EpochOrder> MemorySource::load(std::int64_t index)
{
    assert(index >= 0 && std::size_t(index) < epochs_.size());
    return epochs_[std::size_t(index)];
}

Result<bool> isShuffled(DataSource& source)
{
    for (std::int64_t e = 0; e < source.facts().epochs; ++e) {
        Result<EpochOrder> order = source.load(e);
        if (!order)
            return order.error();
        if (!isSequential(*order, 0))
            return true;
    }
    return false;
}

} // namespace lockstep
