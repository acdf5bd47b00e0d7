#include "core/engine/twin.h"

#include "core/engine/reduction_order.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace lockstep {

TwinExchange::TwinExchange(std::vector<std::unique_ptr<Replica>>& replicas)
    : replicas_(replicas),
      config_(replicas[0]->config()),
      findUnused_(config_.findUnused && !config_.staticGraph),
      limits_(bucketLimits(config_)),
      buckets_(firstBuckets(replicas[0]->parameters(), limits_, findUnused_)),
      rebuilt_(findUnused_), // the Reducer keeps its first layout then
      // A static graph notes no arrivals in its first reduction, which is delayed to the end of backward.
      watchedReduction_(config_.staticGraph ? 2 : 1),
      forwardSync_(replicas.size(), true),
      broadcasts_(replicas.size(), 0)
{
    const std::vector<at::Tensor>& parameters = replicas_[0]->parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i)
        parameters[i].register_hook([this, i](const at::Tensor&) {
            if (watching_)
                arrival_.push_back(i);
        });
}

void TwinExchange::beforeForward(Replica& replica, bool synchronise)
{
    const auto rank = std::size_t(replica.rank());
    watching_ = synchronise && rank == 0 && !rebuilt_ && reductions_ + 1 == watchedReduction_;
    if (forwardSync_[rank] && replica.broadcastsBuffers())
        receiveBuffers(replica);
}

void TwinExchange::afterForward(Replica& replica, const at::Tensor&, bool synchronise)
{
    forwardSync_[std::size_t(replica.rank())] = synchronise;
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
    at::Tensor flat = at::cat(parts);
    return config_.reduction == "ordered" ? flat.div_(world) : flat.mul_(1.0 / double(world));
}

void TwinExchange::reduce()
{
    const at::NoGradGuard noGrad;
    watching_ = false;
    // Broadcasts older than every rank's turn are over.
    sent_.erase(sent_.begin(), sent_.lower_bound(*std::min_element(broadcasts_.begin(), broadcasts_.end())));
    for (const std::vector<std::size_t>& bucket : buckets_) {
        std::vector<at::Tensor> flats;
        for (const auto& replica : replicas_)
            flats.push_back(flatten(*replica, bucket));
        const at::Tensor sum = config_.reduction == "ordered" ? rankOrderSum(flats) : glooRingSum(flats);
        std::int64_t offset = 0;
        for (const std::size_t i : bucket) {
            const std::int64_t n = replicas_[0]->parameters()[i].numel();
            const at::Tensor part = sum.slice(0, offset, offset + n);
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
    if (++reductions_ == watchedReduction_ && !rebuilt_)
        rebuild();
}

void TwinExchange::rebuild()
{
    rebuilt_ = true;
    buckets_ = rebuiltBuckets(replicas_[0]->parameters(), arrival_, limits_);
}

} // namespace lockstep
