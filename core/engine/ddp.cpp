#include "core/engine/ddp.h"

#include "core/engine/bucket_layout.h"
#include "core/engine/faults/bf16_reduction.h"
#include "core/engine/ordered_hook.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <utility>

namespace lockstep {

namespace {

constexpr std::size_t kBroadcastBytes = 250ull << 20; // DistributedDataParallel.broadcast_bucket_size

} // namespace

struct Ddp::Impl {
    c10::intrusive_ptr<c10d::ProcessGroup> group;
    bool staticGraph = false;
    bool findUnused = false;
    bool delayQueued = false;
    std::shared_ptr<c10d::Reducer> reducer;
    std::shared_ptr<c10d::Logger> logger; // the Reducer calls it: destroyed first, kept as long

    void broadcastState(const Replica& replica);
    void makeReducer(const Replica& replica, const Buckets& resumed);
    void broadcastBuffers(const std::vector<at::Tensor>& buffers);
};

void Ddp::Impl::broadcastState(const Replica& replica)
{
    if (!replica.broadcastsInitialState())
        return;
    std::vector<at::Tensor> state;
    for (const at::Tensor& p : replica.parameters())
        state.push_back(p.detach());
    state.insert(state.end(), replica.buffers().begin(), replica.buffers().end());
    c10d::broadcast_coalesced(group, state, kBroadcastBytes, 0);
}

void Ddp::Impl::makeReducer(const Replica& replica, const Buckets& resumed)
{
    const RunConfig& config = replica.config();
    std::vector<at::Tensor> parameters;
    std::unordered_map<std::size_t, std::string> names;
    for (const std::size_t i : replica.inBuckets()) {
        names[parameters.size()] = replica.parameterNames()[i];
        parameters.push_back(replica.parameters()[i]);
    }
    const std::vector<bool> sparse(parameters.size(), false);
    const BucketLimits limits = bucketLimits(config);
    reducer = std::make_shared<c10d::Reducer>(
        parameters, firstBuckets(parameters, limits, findUnused), group, sparse, std::int64_t(limits.cap),
        findUnused, config.bucketView, names, std::int64_t(limits.first),
        /*skip_all_reduce_unused_params=*/false,
        /*use_python_reducer=*/false, /*bucket_bytes_cap_list=*/std::vector<std::int64_t>{});
    logger = std::make_shared<c10d::Logger>(reducer);
    reducer->set_logger(logger);
    logger->set_construction_data_and_log(config.workload, {}, -1, config.broadcastBuffers, false,
                                          staticGraph);
    if (replica.reductionForm() == ReductionForm::Ordered)
        registerOrderedReduction(*reducer, group);
    else if (replica.reductionForm() == ReductionForm::Bf16)
        registerBf16Reduction(*reducer, group);
    if (staticGraph) {
        reducer->set_static_graph();
        logger->set_static_graph();
    }
    if (!resumed.empty()) {
        // The Reducer counts as rebuilt then; else it would find the same layout once more after its first step.
        reducer->push_rebuilt_params_for_all_indices();
        reducer->rebuild_buckets();
        reducer->initialize_buckets(resumed);
    }
}

// Python restores the version counters: without that, two forwards before one backward fail with BatchNorm.
void Ddp::Impl::broadcastBuffers(const std::vector<at::Tensor>& buffers)
{
    const at::NoGradGuard noGrad;
    std::vector<std::int64_t> versions;
    for (const at::Tensor& b : buffers)
        versions.push_back(std::int64_t(b._version()));
    c10d::broadcast_coalesced(group, buffers, kBroadcastBytes, 0);
    for (std::size_t i = 0; i < buffers.size(); ++i) // VariableVersion is a shared handle
        c10::VariableVersion(buffers[i].unsafeGetTensorImpl()->version_counter()).set_version(versions[i]);
}

Ddp::Ddp(Replica& replica, Communicator& communicator, const Buckets& resumed)
    : impl_(std::make_unique<Impl>())
{
    impl_->group = communicator.group();
    impl_->staticGraph = replica.config().staticGraph;
    impl_->findUnused = replica.config().findUnused && !impl_->staticGraph;
    c10d::verify_params_across_processes(impl_->group, replica.parameters(), std::nullopt);
    impl_->broadcastState(replica);
    impl_->makeReducer(replica, resumed);
}

Ddp::~Ddp() = default;

void Ddp::beforeForward(Replica& replica, bool synchronise)
{
    if (synchronise) {
        impl_->logger->set_runtime_stats_and_log();
        impl_->reducer->prepare_for_forward();
    }
    impl_->reducer->rebuild_buckets(); // acts once, after the first synchronised backward
    if (replica.broadcastsBuffers(replica.step() + 1))
        impl_->broadcastBuffers(replica.buffers());
}

void Ddp::afterForward(Replica&, const at::Tensor& output, bool synchronise)
{
    if (!synchronise)
        return;
    impl_->reducer->prepare_for_backward(impl_->findUnused ? std::vector<at::Tensor>{output}
                                                           : std::vector<at::Tensor>{});
    if (impl_->staticGraph && !std::exchange(impl_->delayQueued, true))
        output.register_hook([reducer = impl_->reducer](const at::Tensor&) { // _DDPSink in the first backward
            torch::autograd::Engine::get_default_engine().queue_callback(
                [reducer] { reducer->delay_all_reduce(); });
        });
}

Buckets Ddp::buckets()
{
    impl_->reducer->rebuild_buckets(); // what the next forward would do first
    return impl_->logger->get_per_bucket_variable_indices();
}

std::int64_t Ddp::sumOverRanks(std::int64_t own)
{
    std::vector<at::Tensor> sum{at::scalar_tensor(own, at::kLong)};
    impl_->group->allreduce(sum)->wait();
    return sum[0].item<std::int64_t>();
}

double Ddp::sumLosses(double own)
{
    std::vector<at::Tensor> sum{at::full({1}, own, at::kDouble)};
    impl_->group->allreduce(sum)->wait();
    return sum[0].item<double>();
}

// As the wrapper's forward does in eval mode, once for all batches: they do not change the buffers.
void Ddp::beforeEvaluation(Replica& replica)
{
    if (replica.broadcastsBuffers(replica.step()))
        impl_->broadcastBuffers(replica.buffers());
}

EvalSums Ddp::sumEvaluation(const EvalSums& own)
{
    std::vector<at::Tensor> sum{evalTensor(own)};
    impl_->group->allreduce(sum)->wait();
    return evalSums(sum[0]);
}

void Ddp::averageByHand(Replica& replica)
{
    const at::NoGradGuard noGrad;
    if (replica.config().clipNorm > 0)
        replica.clipGradients();
    for (const at::Tensor& p : replica.parameters()) {
        if (!p.grad().defined())
            continue;
        std::vector<at::Tensor> grad{p.grad()};
        impl_->group->allreduce(grad)->wait();
        grad[0].div_(impl_->group->getSize());
    }
}

} // namespace lockstep
