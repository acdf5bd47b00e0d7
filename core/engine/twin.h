// The bitwise twin: replays the W ranks of a DDP run in one process, with the same micro-batches, local shapes, random
// streams and BatchNorm statistics, and adds the W gradients in the order of the collective. Every bit of losses,
// gradients, updates, parameters, buffers and generators equals the run.
#pragma once

#include "core/engine/bucket_layout.h"
#include "core/engine/trainer.h"

#include <map>
#include <memory>
#include <vector>

namespace lockstep {

class StepProbe;

// Gradients and buffers of the replicas travel through here as they do through Reducer and Gloo.
class TwinExchange final : public GradientExchange
{
public:
    // `resumed`: the layout of a run that is gone on with, or empty.
    TwinExchange(std::vector<std::unique_ptr<Replica>>& replicas, const Buckets& resumed);

    void beforeForward(Replica& replica, bool synchronise) override;
    Buckets buckets() override { return buckets_; }
    double sumLosses(double own) override;
    void beforeEvaluation(Replica& replica) override;
    EvalSums sumEvaluation(const EvalSums& own) override;
    bool reducesLater() const override { return true; }

    // All replicas have done the backward of a synchronised pass: their gradients become the mean of all.
    void reduce();

private:
    void reduceBucket(const std::vector<std::size_t>& bucket);
    void reduceByHand();
    at::Tensor flatten(const Replica& replica, const std::vector<std::size_t>& bucket) const;
    at::Tensor sum(const std::vector<at::Tensor>& flats) const;
    bool usedAnywhere(std::size_t parameter) const;
    void receiveBuffers(Replica& replica);
    void rebuild();

    std::vector<std::unique_ptr<Replica>>& replicas_;
    const RunConfig& config_;
    bool findUnused_;
    ReductionForm form_;
    BucketLimits limits_;
    Buckets buckets_;
    bool rebuilt_;
    std::int64_t watchedReduction_; // whose arrivals decide the rebuilt layout, counted from 1
    std::int64_t reductions_ = 0;
    bool watching_ = false;
    std::vector<std::size_t> arrival_;                     // order of gradients in rank 0's watched backward
    std::vector<std::int64_t> broadcasts_;                 // per rank: how many it took part in
    std::map<std::int64_t, std::vector<at::Tensor>> sent_; // rank 0's buffers at its n-th broadcast
};

} // namespace lockstep
