// What has to be equal on all ranks, and what has to differ, step by step: fingerprints of parameters, optimizer state,
// buffers and generators, and which samples were used. Rows arrive in pieces while a run records. Plain class without a
// thread of its own; RanksEqualityModel runs it off the GUI thread.
#pragma once

#include "core/base/records.h"
#include "ui/models/roles.h"

#include <QString>

#include <deque>
#include <map>
#include <span>
#include <vector>

namespace lockstep {

struct RankEquality {
    enum class Rule {
        Equal,    // replicas: any difference is a fault
        Distinct, // any two ranks with the same value are a fault
        Told,     // either may be intended
    };
    Quantity quantity = Quantity::ParamFingerprint;
    Rule rule = Rule::Equal;
    int ranks = 0;                    // with values
    std::int64_t steps = 0;           // compared; 0: fewer than two ranks recorded it
    std::int64_t firstDifferent = -1; // step at which a rank differs from the majority of the ranks
    int differentRank = -1;           // the lowest of them
    int differentRanks = 0;           // how many at that step
    std::int64_t firstRepeated = -1;  // step at which two ranks have the same value
    int repeatedRank = -1, repeatedOf = -1;

    bool broken() const
    {
        return (rule == Rule::Equal && firstDifferent >= 0) || (rule == Rule::Distinct && firstRepeated >= 0);
    }
    // The step and rank that break the rule.
    std::int64_t step() const { return rule == Rule::Equal ? firstDifferent : firstRepeated; }
    int rank() const { return rule == Rule::Equal ? differentRank : repeatedRank; }
};

class RanksEqualityScan
{
public:
    // In the order in which they are shown.
    static std::span<const Quantity> quantities();

    void append(const SeriesKey& key, std::span<const std::int64_t> steps,
                std::span<const std::uint64_t> bits);
    // Compares what all `ranks` ranks have reached; with `ended` everything, also where a rank is missing.
    void compare(int ranks, bool ended);
    // Of quantities that anybody recorded. `sharded` (fsdp): parameters and optimizer state are each rank's own share.
    std::vector<RankEquality> result(bool sharded) const;

private:
    struct Value {
        std::int64_t step;
        std::uint64_t bits;
    };
    struct Track {
        std::map<int, std::deque<Value>> waiting; // per rank
        std::map<int, std::int64_t> reached;
        RankEquality found;
    };
    static void compareStep(Track& track, std::int64_t step);

    std::map<Quantity, Track> tracks_;
};

} // namespace lockstep
