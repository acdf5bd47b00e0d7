// From reviews of epochs to causes. Internal to core/gates.
#pragma once

#include "core/gates/content_table.h"
#include "core/gates/epoch_review.h"

#include <vector>

namespace lockstep {

struct DataReview {
    const DataFacts* facts = nullptr;
    const DataPlan* plan = nullptr;
    std::vector<EpochReview> epochs;
    const ContentTable* contents = nullptr;
    std::vector<std::vector<std::int64_t>> heads; // per epoch: first ids of rank 0 (original ids)
    std::vector<std::int64_t> expectedHead;       // what the second epoch should start with on rank 0
    StepAxis axis;

    // Samples of one optimizer step over all ranks: as seen where the steps were recorded, else as configured.
    std::int64_t globalBatch() const
    {
        const bool recorded =
            !epochs.empty() && !epochs.front().stepped.ranks.empty() && epochs.front().fullStep > 0;
        return recorded ? epochs.front().fullStep : axis.perStep() * facts->world;
    }
};

// Epochs of fewer different samples may repeat an order by chance.
inline constexpr std::int64_t kFewestDistinct = 8;

// One line "1010 419 955" per list of ids.
std::string idLine(const std::vector<std::int64_t>& ids);

// Each cause once, at the first step it touches; faults first.
std::vector<DataFinding> findCauses(const DataReview& review);

} // namespace lockstep
