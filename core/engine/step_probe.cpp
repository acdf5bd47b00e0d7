#include "core/engine/step_probe.h"

#include "core/base/fingerprint.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <cstring>
#include <utility>

namespace lockstep {

namespace {

// Where the tensor lies on the CPU.
TensorSpan spanOf(const at::Tensor& t)
{
    return {t.data_ptr(), std::size_t(t.numel()), std::uint32_t(t.element_size()),
            t.scalar_type() == at::kFloat};
}

void add(StepRecord& record, Quantity quantity, std::uint64_t bits, std::size_t index = 0)
{
    record.values.push_back({quantity, std::uint16_t(index), bits});
}

} // namespace

class StepProbe::LocalHook final : public torch::autograd::PostAccumulateGradHook
{
public:
    LocalHook(StepProbe& probe, std::size_t parameter) : probe_(probe), parameter_(parameter) {}
    void operator()(const torch::autograd::Variable&) override { probe_.gradientReady(parameter_); }

private:
    StepProbe& probe_;
    std::size_t parameter_;
};

StepProbe::StepProbe(Recorder& recorder, Replica& replica) : recorder_(recorder), replica_(replica)
{
    for (const at::Tensor& p : replica.parameters()) {
        offsets_.push_back(elements_);
        elements_ += std::size_t(p.numel());
    }
    for (Copies* copies : {&local_[0], &local_[1], &reduced_, &clippedCopies_}) {
        copies->values.resize(elements_);
        copies->present.assign(offsets_.size(), false);
    }
    for (std::int64_t id = 0; id < replica.workload().size(); ++id)
        contentHashes_.push_back(replica.workload().contentHash(replica.contentOf(id)));
}

StepProbe::~StepProbe()
{
    recorder_.waitUntilRead(); // also when an error unwinds: the last job points into this replica
    for (const at::Tensor& p : replica_.parameters())
        torch::autograd::impl::set_post_acc_grad_hooks(p, nullptr);
}

void StepProbe::watchLocalGradients()
{
    for (std::size_t i = 0; i < offsets_.size(); ++i)
        torch::autograd::impl::set_post_acc_grad_hooks(replica_.parameters()[i],
                                                       std::make_unique<LocalHook>(*this, i));
}

void StepProbe::beforeLastBackward()
{
    localTurn_ ^= 1;
    local_[localTurn_].present.assign(offsets_.size(), false);
    armed_ = true;
    hasLocal_ = false;
}

void StepProbe::gradientReady(std::size_t parameter)
{
    if (!armed_)
        return;
    hasLocal_ = true;
    copyGradient(local_[localTurn_], parameter);
    lastReadyNs_ = monotonicNs();
}

void StepProbe::captureLocalGradients()
{
    localTurn_ ^= 1;
    copyGradients(local_[localTurn_]);
    hasLocal_ = true;
}

void StepProbe::beforeUpdate()
{
    if (armed_ && hasLocal_)
        replica_.facts().timeWait = double(monotonicNs() - lastReadyNs_) * 1e-9;
    armed_ = false;
    recorder_.waitUntilRead();
    held_.clear();
    hasClipped_ = false;
    // Clipping changes gradients in place; a bucket view is overwritten by the next backward.
    gradientsCopied_ = replica_.clips() || replica_.config().bucketView;
    if (gradientsCopied_) {
        copyGradients(reduced_);
        return;
    }
    for (const at::Tensor& p : replica_.parameters()) {
        const at::Tensor& grad = p.grad();
        held_.push_back(grad.defined() && !(grad.is_cpu() && grad.is_contiguous()) ? grad.contiguous().cpu()
                                                                                   : grad);
    }
}

void StepProbe::clipped()
{
    copyGradients(clippedCopies_);
    hasClipped_ = true;
}

void StepProbe::copyGradient(Copies& copies, std::size_t parameter) const
{
    const at::Tensor& grad = replica_.parameters()[parameter].grad();
    copies.present[parameter] = grad.defined();
    if (!grad.defined())
        return;
    const at::Tensor dense = grad.is_cpu() ? grad.contiguous() : grad.contiguous().cpu();
    std::memcpy(copies.values.data() + offsets_[parameter], dense.data_ptr<float>(),
                std::size_t(dense.numel()) * sizeof(float));
}

void StepProbe::copyGradients(Copies& copies) const
{
    for (std::size_t i = 0; i < offsets_.size(); ++i)
        copyGradient(copies, i);
}

// On a GPU the recorder reads a copy.
TensorSpan StepProbe::readable(const at::Tensor& t)
{
    if (t.is_cpu())
        return spanOf(t);
    held_.push_back(t.detach().cpu());
    return spanOf(held_.back());
}

TensorSpans StepProbe::spansOf(const Copies& copies) const
{
    TensorSpans spans;
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
        const auto count = std::size_t(replica_.parameters()[i].numel());
        spans.push_back(
            {copies.present[i] ? copies.values.data() + offsets_[i] : nullptr, count, sizeof(float), true});
    }
    return spans;
}

TensorSpans StepProbe::gradientSpans() const
{
    if (gradientsCopied_)
        return spansOf(reduced_);
    TensorSpans spans;
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
        const at::Tensor& grad = held_[i];
        const auto count = std::size_t(replica_.parameters()[i].numel());
        spans.push_back({grad.defined() ? grad.data_ptr() : nullptr, count, sizeof(float), true});
    }
    return spans;
}

void StepProbe::copyBuffers(StepJob& job)
{
    const std::vector<at::Tensor>& buffers = replica_.buffers();
    bufferCopies_.resize(buffers.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        TensorSpan span = readable(buffers[i]);
        const auto* bytes = static_cast<const std::uint8_t*>(span.data);
        bufferCopies_[i].assign(bytes, bytes + span.count * span.elementSize);
        span.data = bufferCopies_[i].data();
        job.buffers.push_back(span);
    }
}

void StepProbe::addState(StepJob& job, const at::Tensor& generator)
{
    for (std::size_t i = 0; i < offsets_.size() && !job.sharedState; ++i) {
        job.parameters.push_back(readable(replica_.parameters()[i]));
        for (const auto& [name, tensor] : replica_.optimizer().state(i))
            job.optimizerState.push_back(readable(tensor));
    }
    copyBuffers(job);
    generatorCopy_ = generator.defined() ? generator : at::detail::getDefaultCPUGenerator().get_state();
    job.generator = spanOf(generatorCopy_);
    add(job.record, Quantity::OptimizerStep, std::uint64_t(replica_.optimizer().steps()));
}

void StepProbe::addSamples(StepJob& job) const
{
    std::vector<std::int64_t> ids;
    std::vector<std::uint64_t> hashes;
    for (const MicroFacts& micro : replica_.facts().micros) {
        SamplesRecord samples;
        samples.rank = replica_.rank();
        samples.step = job.record.step;
        samples.micro = std::int32_t(job.samples.size());
        samples.epoch = micro.epoch;
        samples.ids = micro.ids;
        for (const std::int64_t id : micro.ids)
            samples.hashes.push_back(contentHashes_[std::size_t(id)]);
        ids.insert(ids.end(), samples.ids.begin(), samples.ids.end());
        hashes.insert(hashes.end(), samples.hashes.begin(), samples.hashes.end());
        job.samples.push_back(std::move(samples));
    }
    add(job.record, Quantity::SampleIds, fingerprint(ids.data(), ids.size(), sizeof ids[0]));
    add(job.record, Quantity::SampleContent, fingerprint(hashes.data(), hashes.size(), sizeof hashes[0]));
}

void StepProbe::addFacts(StepRecord& record, const CollectiveFacts& collectives) const
{
    const StepFacts& f = replica_.facts();
    add(record, Quantity::Epoch, std::uint64_t(f.micros.back().epoch));
    add(record, Quantity::MicroSteps, f.micros.size());
    add(record, Quantity::SamplesSeen, std::uint64_t(replica_.samplesSeen()));
    double loss = 0;
    for (std::size_t k = 0; k < f.micros.size(); ++k) {
        const MicroFacts& micro = f.micros[k];
        loss += micro.loss;
        add(record, Quantity::LossMicro, bitsOf(micro.loss), k);
        add(record, Quantity::Samples, micro.ids.size(), k);
        if (micro.tokens > 0)
            add(record, Quantity::Tokens, std::uint64_t(micro.tokens), k);
    }
    if (replica_.tokensSeen() > 0)
        add(record, Quantity::TokensSeen, std::uint64_t(replica_.tokensSeen()));
    add(record, Quantity::Loss, bitsOf(loss / double(f.micros.size())));
    add(record, Quantity::LearningRate, bitsOf(f.rate));
    if (replica_.config().clipNorm > 0)
        add(record, Quantity::ClipNormTorch, bitsOf(double(f.clipNorm)));
    if (replica_.config().mode != "twin") { // it has none
        add(record, Quantity::CollectiveCount, std::uint64_t(collectives.count));
        add(record, Quantity::CollectiveBytes, std::uint64_t(collectives.bytes));
        add(record, Quantity::CollectiveDtype, std::uint64_t(collectives.gradientDtype));
    }
    add(record, Quantity::TimeData, bitsOf(f.timeData));
    add(record, Quantity::TimeForward, bitsOf(f.timeForward));
    add(record, Quantity::TimeBackward, bitsOf(f.timeBackward));
    add(record, Quantity::TimeWait, bitsOf(f.timeWait));
    add(record, Quantity::TimeOptimizer, bitsOf(f.timeOptimizer));
    add(record, Quantity::TimeStep, bitsOf(f.timeStep));
}

void StepProbe::submitInitial(bool sharedState, const at::Tensor& generator)
{
    StepJob job;
    job.record.rank = replica_.rank();
    job.record.step = replica_.step();
    job.sharedState = sharedState;
    addState(job, generator);
    recorder_.submit(std::move(job));
}

void StepProbe::submit(const CollectiveFacts& collectives, bool sharedState, const at::Tensor& generator)
{
    StepJob job;
    job.record.rank = replica_.rank();
    job.record.step = replica_.facts().step;
    job.record.values.reserve(48);
    job.sharedState = sharedState;
    addFacts(job.record, collectives);
    addSamples(job);
    if (hasLocal_)
        job.localGradients = spansOf(local_[localTurn_]);
    job.gradients = gradientSpans();
    if (hasClipped_)
        job.clippedGradients = spansOf(clippedCopies_);
    addState(job, generator);
    recorder_.submit(std::move(job));
}

} // namespace lockstep
