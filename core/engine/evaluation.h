// The evaluation pass: every config.evalEvery steps the model is run over the workload's evaluation set, in eval mode and
// without gradients. Nothing of the training moves: no random number is drawn, buffers are put back, collectives are not
// counted to the step.
//
// Each rank takes its share of torch's DistributedSampler(shuffle=False), which repeats the first samples until all shares
// are equally long, so that the collectives of the forwards match. The repeats are left out of the metric: only sums and
// counts are reduced.
#pragma once

#include "core/base/records.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

class GradientExchange;
class Replica;

// What one evaluation adds up, over one rank or all of them. Answers are samples, or tokens where the loss weighs tokens.
struct EvalSums {
    double loss = 0;
    double answers = 0;
    double right = 0;
    double samples = 0;
};

struct EvalFacts {
    EvalSums own;
    EvalSums all;
    std::int64_t setSize = 0;
    double seconds = 0;
};

// After the step that just ended.
bool evaluationDue(const Replica& replica);
// Runs the model over this rank's share; facts().evaluation then has its own sums.
void evaluateShare(Replica& replica, GradientExchange& exchange);
// Then, on every rank: the sums of all of them. Collective.
void reduceEvaluation(Replica& replica, GradientExchange& exchange);

// Samples of a rank's padded share that are its own: repeats stand at the end of it.
std::int64_t ownSamples(std::int64_t setSize, int rank, int world);

// As they are reduced: four float64.
at::Tensor evalTensor(const EvalSums& sums);
EvalSums evalSums(const at::Tensor& tensor);

void addTo(StepRecord& record, const EvalFacts& evaluation);

} // namespace lockstep
