// How many samples of the evaluation set each rank counted. A DistributedSampler without shuffling deals sample r + W j to
// rank r and repeats the first samples at the end, until all ranks have equally many; counted once, rank r has
// ceil((set - r) / W) of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::align {

class RunTrace;

struct EvaluationCounts {
    std::int64_t step =
        -1; // the first evaluation that counted more samples than there are; else the first one
    std::int64_t setSize = 0;
    std::int64_t counted = 0; // by all ranks
    std::vector<std::int64_t> ofRank;
    std::vector<std::int64_t> shareOfRank;
    int rank = -1; // first that counted more than its share; -1: none

    bool repeats() const { return counted > setSize; }
};

// nullopt: the run did not evaluate, or one of its ranks lacks the counts.
std::optional<EvaluationCounts> evaluationCounts(const RunTrace& run);

// "At step 2 the evaluation counted 360 samples and the set has 359: rank 1 counted 180 instead of 179."
std::string describe(const EvaluationCounts& counts);

} // namespace lockstep::align
