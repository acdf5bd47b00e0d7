// Decides what is compared with what: ranks, quantities, and what is left out for which reason (compare.h
// says the rules).
#pragma once

#include "core/align/compare.h"
#include "core/align/track.h"

#include <memory>
#include <optional>
#include <vector>

namespace lockstep::align {

struct Task {
    Quantity quantity = Quantity::Loss;
    std::uint16_t index = 0;
    std::string tag;                      // of an imported series, as in A
    std::optional<PrintedDigits> printed; // of the coarser of two imported series
    int rank = -1;                        // shown with a difference; -1: all ranks together
    int rankA = -1;                       // whose tensors may tell the parameter; -1: nobody's
    int rankB = -1;
    std::unique_ptr<Source> a;
    std::unique_ptr<Source> b;
};

struct Plan {
    RankMatch match = RankMatch::RankByRank;
    std::vector<Task> tasks; // in causal order of their quantities
    std::vector<NotCompared> notCompared;
    std::string missingRanks; // a sentence where a rank that should be there recorded nothing
};

// Quantities of the table in causal order.
std::vector<const QuantityInfo*> causalOrder();

// One value per step for the whole run, as in a whole-run comparison; nullptr for quantities that belong to
// one rank or are no numbers.
std::unique_ptr<Source> wholeRun(const RunView& run, Quantity quantity, std::uint16_t index);

RankMatch matchRanks(const RunView& a, const RunConfig& ca, const RunView& b, const RunConfig& cb);
Plan makePlan(const RunView& a, const RunConfig& ca, const RunView& b, const RunConfig& cb, CompareMode mode,
              const CompareOptions& options);

} // namespace lockstep::align
