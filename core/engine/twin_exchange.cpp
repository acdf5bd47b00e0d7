#include "core/engine/twin.h"

#include "core/engine/reduction_order.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace lockstep {

namespace {

// In terms of all parameters, those that a fault keeps from the wrapper left out.
Buckets firstLayout(const Replica& replica, BucketLimits limits, bool findUnused)
{
    const std::vector<std::size_t> known = replica.inBuckets();
    std::vector<at::Tensor> parameters;
    for (const std::size_t i : known)
        parameters.push_back(replica.parameters()[i]);
    Buckets buckets = firstBuckets(parameters, limits, findUnused);
    for (std::vector<std::size_t>& bucket : buckets)
        for (std::size_t& i : bucket)
            i = known[i];
    return buckets;
}

} // namespace

TwinExchange::TwinExchange(std::vector<std::unique_ptr<Replica>>& replicas, const Buckets& resumed)
    : replicas_(replicas),
      config_(replicas[0]->config()),
      findUnused_(config_.findUnused && !config_.staticGraph),
      form_(replicas[0]->reductionForm()),
      limits_(bucketLimits(config_)),
      buckets_(resumed.empty() ? firstLayout(*replicas[0], limits_, findUnused_) : resumed),
      rebuilt_(findUnused_ ||
               !resumed.empty()), // the Reducer keeps its first layout then, or finds the same again
      // A static graph notes no arrivals in its first reduction, which is delayed to the end of backward.
      watchedReduction_(config_.staticGraph ? 2 : 1),
      broadcasts_(replicas.size(), 0)
{
    const std::vector<at::Tensor>& parameters = replicas_[0]->parameters();
    for (const std::size_t i : replicas_[0]->inBuckets())
        parameters[i].register_hook([this, i](const at::Tensor&) {
            if (watching_)
                arrival_.push_back(i);
        });
}

void TwinExchange::beforeForward(Replica& replica, bool synchronise)
{
    const auto rank = std::size_t(replica.rank());
    watching_ = synchronise && rank == 0 && !rebuilt_ && reductions_ + 1 == watchedReduction_;
    if (replica.broadcastsBuffers(replica.step() + 1))
        receiveBuffers(replica);
}

// Ranks are replayed one after the other, so rank 0's buffers are kept under the number of the broadcast they belong to.
void TwinExchange::receiveBuffers(Replica& replica)
{
    const at::NoGradGuard noGrad;
    const std::int64_t turn = broadcasts_[std::size_t(replica.rank())]++;
    if (replica.rank() == 0) {
        for (const at::Tensor& b : replica.buffers())
            sent_[turn].push_back(b.clone());
        return;
    }
    const auto it = sent_.find(turn);
    if (it == sent_.end())
        throw Failure{{ErrorKind::RunFailed, "The twin cannot replay this run",
                       "a rank waits for buffers that rank 0 never sends",
                       "Compare the run with a DDP run instead"}};
    for (std::size_t i = 0; i < it->second.size(); ++i)
        replica.buffers()[i].copy_(it->second[i]);
}

bool TwinExchange::usedAnywhere(std::size_t parameter) const
{
    for (const auto& replica : replicas_)
        if (replica->parameters()[parameter].grad().defined())
            return true;
    return false;
}

// What the Reducer copies into its bucket: the gradient times 1/W; with a comm hook the hook divides. These differ in the
// last bit where W is no power of two.
at::Tensor TwinExchange::flatten(const Replica& replica, const std::vector<std::size_t>& bucket) const
{
    std::vector<at::Tensor> parts;
    for (const std::size_t i : bucket) {
        const at::Tensor& p = replica.parameters()[i];
        parts.push_back((p.grad().defined() ? p.grad() : at::zeros_like(p)).flatten());
    }
    const auto world = std::int64_t(replicas_.size());
    const at::Tensor flat = at::cat(parts);
    switch (form_) {
    case ReductionForm::Ordered:
        return flat.div_(world);
    case ReductionForm::Bf16:
        return flat.to(at::kBFloat16).div_(world);
    default:
        return flat.mul_(1.0 / double(world));
    }
}

at::Tensor TwinExchange::sum(const std::vector<at::Tensor>& flats) const
{
    return form_ == ReductionForm::Ordered ? rankOrderSum(flats) : glooRingSum(flats).to(at::kFloat);
}

void TwinExchange::reduce()
{
    const at::NoGradGuard noGrad;
    watching_ = false;
    // Broadcasts older than every rank's turn are over.
    sent_.erase(sent_.begin(), sent_.lower_bound(*std::min_element(broadcasts_.begin(), broadcasts_.end())));
    if (replicas_[0]->averagesByHand())
        return reduceByHand();
    if (!replicas_[0]->reducesGradients())
        return;
    for (const std::vector<std::size_t>& bucket : buckets_)
        reduceBucket(bucket);
    if (++reductions_ == watchedReduction_ && !rebuilt_)
        rebuild();
}

void TwinExchange::reduceBucket(const std::vector<std::size_t>& bucket)
{
    std::vector<at::Tensor> flats;
    for (const auto& replica : replicas_)
        flats.push_back(flatten(*replica, bucket));
    const at::Tensor total = sum(flats);
    std::int64_t offset = 0;
    for (const std::size_t i : bucket) {
        const std::int64_t n = replicas_[0]->parameters()[i].numel();
        const at::Tensor part = total.slice(0, offset, offset + n);
        offset += n;
        const bool used = usedAnywhere(i);
        if (!used && !findUnused_)
            throw Failure{{ErrorKind::RunFailed, "DDP cannot finish its reduction",
                           "parameter " + replicas_[0]->parameterNames()[i] + " took no part in the loss",
                           "Use --find-unused"}};
        for (const auto& replica : replicas_) {
            const at::Tensor& p = replica->parameters()[i];
            if (used && p.grad().defined())
                p.mutable_grad().copy_(part.view_as(p));
            else if (used)
                p.mutable_grad() = part.view_as(p).clone();
        }
    }
}

// As Ddp::averageByHand() on every rank.
void TwinExchange::reduceByHand()
{
    for (const auto& replica : replicas_)
        if (replica->config().clipNorm > 0)
            replica->clipGradients();
    const auto world = std::int64_t(replicas_.size());
    for (std::size_t i = 0; i < replicas_[0]->parameters().size(); ++i) {
        std::vector<at::Tensor> grads;
        for (const auto& replica : replicas_)
            if (const at::Tensor& grad = replica->parameters()[i].grad(); grad.defined())
                grads.push_back(grad.flatten());
        if (grads.empty())
            continue;
        const at::Tensor mean = glooRingSum(grads).div_(world);
        for (const auto& replica : replicas_)
            replica->parameters()[i].mutable_grad().copy_(mean.view_as(replica->parameters()[i]));
    }
}

double TwinExchange::sumLosses(double)
{
    std::vector<at::Tensor> losses;
    for (const auto& replica : replicas_)
        losses.push_back(at::full({1}, replica->facts().loss(), at::kDouble));
    return glooRingSum(losses).item<double>();
}

void TwinExchange::beforeEvaluation(Replica& replica)
{
    if (replica.broadcastsBuffers(replica.step()))
        receiveBuffers(replica);
}

EvalSums TwinExchange::sumEvaluation(const EvalSums&)
{
    std::vector<at::Tensor> sums;
    for (const auto& replica : replicas_)
        sums.push_back(evalTensor(replica->facts().evaluation->own));
    return evalSums(glooRingSum(sums));
}

void TwinExchange::rebuild()
{
    rebuilt_ = true;
    buckets_ = rebuiltBuckets(replicas_[0]->parameters(), arrival_, limits_);
}

} // namespace lockstep
