// The steps of torch/nn/parallel/distributed.py (2.15) over c10d::Reducer, in their order, with the bits of
// Python's DistributedDataParallel.
#pragma once

#include "core/engine/communicator.h"
#include "core/engine/replica.h"

#include <memory>

namespace lockstep {

class Ddp final : public GradientExchange
{
public:
    // Broadcasts rank 0's parameters and buffers, builds the buckets: as DistributedDataParallel does, or as a resumed run
    // had them. Throws what c10d throws.
    Ddp(Replica& replica, Communicator& communicator, const Buckets& resumed = {});
    ~Ddp() override;

    void beforeForward(Replica& replica, bool synchronise) override;
    void afterForward(Replica& replica, const at::Tensor& output, bool synchronise) override;
    Buckets buckets() override;
    std::int64_t sumOverRanks(std::int64_t own) override;
    double sumLosses(double own) override;
    void beforeEvaluation(Replica& replica) override;
    EvalSums sumEvaluation(const EvalSums& own) override;
    void averageByHand(Replica& replica) override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace lockstep
