// Two runs laid beside each other for the rules: where they part, and what holds at that place.
//
// Two views. *Rank by rank*: both runs recorded the same ranks (DDP against DDP or its twin); every bit counts. *As
// wholes*: a single process against ranks; ids, contents and integers are exact, losses and gradients are means over
// the ranks and differ by rounding, which grows along a run. There a step counts as different once its distance leaves
// both the rounding of the number format and, by a wide factor, everything seen before it.
#pragma once

#include "core/align/diagnose/relation.h"
#include "core/align/diagnose/run_trace.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep::align {

class Case
{
public:
    // Both traces must outlive the case.
    static Result<Case> make(const RunTrace& reference, const RunTrace& suspect);

    const RunTrace& ref() const { return *ref_; }
    const RunTrace& sus() const { return *sus_; }
    bool rankByRank() const { return rankByRank_; }
    std::int64_t lastStep() const { return lastStep_; } // both runs reach it
    int world() const { return sus_->world(); }
    // Relative error of an honest sum in the number format of the gradients, with room for its order.
    double precision() const;

    // First step at which the quantity differs; -1: it does not, or cannot be compared.
    std::int64_t first(Quantity quantity) const;
    // The ranks whose values of the quantity differ at the step (as wholes: all or none).
    std::vector<int> ranksOff(Quantity quantity, std::int64_t step) const;
    bool differsAt(Quantity quantity, std::int64_t step) const { return !ranksOff(quantity, step).empty(); }
    // The earliest step at which anything differs, and its earliest link; -1: nowhere.
    std::int64_t start() const { return start_; }
    CausalLink link() const { return link_; }
    std::optional<Quantity> quantity() const { return quantity_; }
    bool anyDifference() const { return start_ >= 0; }

    // Relations of the suspect to the reference at a step. By rank only rank by rank.
    std::optional<Relation> local(int rank, std::int64_t step) const;
    std::optional<Relation> localMean(std::int64_t step) const;
    // As wholes: whether the script scaled the reduced gradient by itself before the optimizer took it, as clipping by hand
    // does. One process then shows no gradient from before that, and localMean is not known.
    bool scaledAfterReduction(std::int64_t step) const;
    std::optional<Relation> reduced(int rank, std::int64_t step) const;
    // What the suspect's own reduction did: reduced gradient of a rank against the mean of the local ones, and against
    // its own local one.
    std::optional<Relation> ownReduction(int rank, std::int64_t step) const;
    std::optional<Relation> ownLocal(int rank, std::int64_t step) const;
    std::optional<double> lossRatio(int rank, std::int64_t step) const;
    std::optional<double> lossRatioMean(std::int64_t step) const;
    std::optional<double> ratio(int rank, Quantity quantity, std::int64_t step,
                                std::uint16_t index = 0) const;
    int refRank(int rank) const; // the reference's rank that stands for it

private:
    Case(const RunTrace& reference, const RunTrace& suspect) : ref_(&reference), sus_(&suspect) {}
    Status scanAll();
    Status scanExact(Quantity quantity);
    void scanRates();
    static Result<std::map<std::int64_t, std::uint64_t>> usedSamples(const RunTrace& run, bool contents,
                                                                     std::int64_t from, std::int64_t to);
    Status scanJoined(Quantity quantity);
    void scanCounted(Quantity quantity);
    void scanMeasured();
    void note(Quantity quantity, std::int64_t step);

    const RunTrace* ref_;
    const RunTrace* sus_;
    bool rankByRank_ = false;
    std::int64_t firstStep_ = 0;
    std::int64_t lastStep_ = -1;
    std::map<Quantity, std::int64_t> firsts_;
    std::int64_t start_ = -1;
    CausalLink link_ = CausalLink::None;
    std::optional<Quantity> quantity_;
};

} // namespace lockstep::align
