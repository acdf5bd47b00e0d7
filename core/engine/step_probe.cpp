#include "core/engine/step_probe.h"

#include "core/base/fingerprint.h"
#include "core/engine/trainer.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <cmath>
#include <cstring>
#include <utility>

namespace lockstep {

namespace {

TensorSpan spanOf(const at::Tensor& t)
{
    return {t.data_ptr(), std::size_t(t.numel()), std::uint32_t(t.element_size()),
            t.scalar_type() == at::kFloat};
}

StateLayout layoutOf(const Replica& replica)
{
    StateLayout layout{replica.parameterNames(), {}, replica.bufferNames()};
    for (const at::Tensor& p : replica.parameters())
        layout.parameterSizes.push_back(std::size_t(p.numel()));
    return layout;
}

bool wantsTensors(const RunConfig& config)
{
    return config.record == "tensor" || config.record == "full";
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

StepProbe::StepProbe(Recorder& recorder, Replica& replica, const StepProbe* leader)
    : recorder_(recorder),
      replica_(replica),
      leader_(leader),
      perTensor_(wantsTensors(replica.config())),
      layout_(layoutOf(replica)),
      local_(layout_, perTensor_),
      reduced_(layout_, perTensor_),
      clipped_(layout_, false),
      state_(layout_, perTensor_)
{
    for (std::int64_t id = 0; id < replica.workload().size(); ++id)
        contentHashes_.push_back(replica.workload().contentHash(replica.contentOf(id)));
}

StepProbe::~StepProbe()
{
    for (const at::Tensor& p : replica_.parameters())
        torch::autograd::impl::set_post_acc_grad_hooks(p, nullptr);
}

void StepProbe::watchLocalGradients()
{
    for (std::size_t i = 0; i < replica_.parameters().size(); ++i)
        torch::autograd::impl::set_post_acc_grad_hooks(replica_.parameters()[i],
                                                       std::make_unique<LocalHook>(*this, i));
}

void StepProbe::beforeBackward(bool local)
{
    if (local)
        local_.clear();
    if (local && keeper_)
        keeper_->forget();
    armed_ = local;
}

void StepProbe::gradientReady(std::size_t parameter)
{
    if (!armed_)
        return;
    const at::Tensor grad = replica_.parameters()[parameter].grad().contiguous().cpu();
    local_.add(parameter, grad.data_ptr<float>());
    if (keeps())
        keeper_->note("local", layout_.parameterNames[parameter], grad);
    lastReadyNs_ = monotonicNs();
}

void StepProbe::captureLocalGradients()
{
    measureGradients(local_);
    // A parameter that takes no part in this pass hands over nothing, whatever it has accumulated.
    for (std::size_t i = 0; i < replica_.parameters().size(); ++i)
        if (!replica_.parameters()[i].requires_grad())
            local_.remove(i);
    noteGradients("local");
}

void StepProbe::beforeUpdate()
{
    if (armed_ && !local_.empty())
        replica_.facts().timeWait = double(monotonicNs() - lastReadyNs_) * 1e-9;
    armed_ = false;
    measureGradients(reduced_);
    noteGradients("reduced");
    clipped_.clear();
}

void StepProbe::clipped()
{
    measureGradients(clipped_);
    noteGradients("clipped");
}

void StepProbe::noteGradients(const std::string& stage)
{
    for (std::size_t i = 0; keeps() && i < replica_.parameters().size(); ++i)
        if (const at::Tensor& grad = replica_.parameters()[i].grad(); grad.defined())
            keeper_->note(stage, layout_.parameterNames[i], grad);
}

void StepProbe::writeKept()
{
    if (!keeper_ || !keeper_->wants(replica_.step()))
        return;
    const Result<CheckpointWritten> written = keeper_->write(replica_);
    if (!written)
        throw Failure{written.error()};
    EventRecord event;
    event.step = replica_.step();
    event.kind = "tensors";
    event.detail = writtenDetail(*written);
    recorder_.add(std::move(event));
}

void StepProbe::measureGradients(GradientMeasure& measure) const
{
    measure.clear();
    for (std::size_t i = 0; i < replica_.parameters().size(); ++i) {
        const at::Tensor& grad = replica_.parameters()[i].grad();
        if (!grad.defined())
            continue;
        const at::Tensor dense = grad.is_cpu() && grad.is_contiguous() ? grad : grad.contiguous().cpu();
        measure.add(i, dense.data_ptr<float>());
    }
}

// On a GPU a copy is measured.
TensorSpan StepProbe::readable(const at::Tensor& t)
{
    if (t.is_cpu())
        return spanOf(t);
    hostCopies_.push_back(t.detach().cpu());
    return spanOf(hostCopies_.back());
}

// The generator moves only where something was drawn, and to see that costs less than to copy out its 5,056 bytes: each
// draw moves the place in the block of 624 words, each new block changes its words.
bool StepProbe::generatorMoved()
{
    const at::Generator generator = at::detail::getDefaultCPUGenerator();
    auto* cpu = at::check_generator<at::CPUGeneratorImpl>(generator);
    const at::mt19937_data_pod now = cpu->engine().data();
    const GeneratorPlace place = {now.seed_,
                                  now.left_,
                                  std::int64_t(now.next_),
                                  now.state_[0],
                                  now.state_[1],
                                  cpu->next_float_normal_sample().has_value(),
                                  cpu->next_double_normal_sample().has_value()};
    return std::exchange(generatorPlace_, place) != place;
}

std::uint64_t StepProbe::generatorPrint(const at::Tensor& generator)
{
    if (generator.defined())
        return fingerprint(generator.data_ptr(), generator.nbytes(), 1);
    if (generatorMoved()) {
        const at::Tensor state = at::detail::getDefaultCPUGenerator().get_state();
        generatorPrint_ = fingerprint(state.data_ptr(), state.nbytes(), 1);
    }
    return generatorPrint_;
}

void StepProbe::addState(StepRecord& record, const at::Tensor& generator)
{
    hostCopies_.clear();
    if (!leader_) {
        parameters_.clear();
        optimizerState_.clear();
        for (std::size_t i = 0; i < replica_.parameters().size(); ++i) {
            parameters_.push_back(readable(replica_.parameters()[i]));
            for (const auto& [name, tensor] : replica_.optimizer().state(i))
                optimizerState_.push_back(readable(tensor));
        }
        state_.measure(parameters_, optimizerState_);
    }
    state().addTo(record);
    TensorSpans buffers;
    for (const at::Tensor& b : replica_.buffers())
        buffers.push_back(readable(b));
    addValue(record, Quantity::BufferFingerprint, fingerprintOf(buffers));
    addValue(record, Quantity::RngCpu, generatorPrint(generator));
    addValue(record, Quantity::OptimizerStep, std::uint64_t(replica_.optimizer().steps()));
}

double StepProbe::localScale() const
{
    const double scale = replica_.facts().scale;
    return local_.empty() || scale == 0 ? 1 : scale;
}

void StepProbe::addGradients(StepRecord& record) const
{
    // Without a reduction the local gradient is the gradient.
    addGradient(record, local_.empty() ? reduced_ : local_, localScale(), Quantity::GradNormLocal,
                Quantity::GradProjLocal);
    addGradient(record, reduced_, 1, Quantity::GradNorm, Quantity::GradProj);
    if (!clipped_.empty())
        addValue(record, Quantity::GradNormClipped, bitsOf(clipped_.norm()));
}

void StepProbe::recordSamples(StepRecord& record)
{
    std::vector<std::int64_t> ids;
    std::vector<std::uint64_t> hashes;
    SamplesRecord samples;
    samples.rank = replica_.rank();
    samples.step = record.step;
    for (const MicroFacts& micro : replica_.facts().micros) {
        samples.epoch = micro.epoch;
        samples.ids = micro.ids;
        samples.hashes.clear();
        for (const std::int64_t id : micro.ids)
            samples.hashes.push_back(contentHashes_[std::size_t(id)]);
        ids.insert(ids.end(), samples.ids.begin(), samples.ids.end());
        hashes.insert(hashes.end(), samples.hashes.begin(), samples.hashes.end());
        recorder_.add(samples);
        ++samples.micro;
    }
    addValue(record, Quantity::SampleIds, fingerprint(ids.data(), ids.size(), sizeof ids[0]));
    addValue(record, Quantity::SampleContent, fingerprint(hashes.data(), hashes.size(), sizeof hashes[0]));
}

void StepProbe::addFacts(StepRecord& record) const
{
    const StepFacts& f = replica_.facts();
    addValue(record, Quantity::Epoch, std::uint64_t(f.micros.back().epoch));
    addValue(record, Quantity::MicroSteps, f.micros.size());
    addValue(record, Quantity::SamplesSeen, std::uint64_t(replica_.samplesSeen()));
    if (replica_.tokensSeen() > 0)
        addValue(record, Quantity::TokensSeen, std::uint64_t(replica_.tokensSeen()));
    for (std::size_t k = 0; k < f.micros.size(); ++k) {
        const MicroFacts& micro = f.micros[k];
        addValue(record, Quantity::LossMicro, bitsOf(micro.loss), k);
        addValue(record, Quantity::Samples, micro.ids.size(), k);
        if (micro.tokens > 0)
            addValue(record, Quantity::Tokens, std::uint64_t(micro.tokens), k);
    }
    addValue(record, Quantity::Loss, bitsOf(f.loss()));
    if (f.logged)
        addValue(record, Quantity::LossLogged, bitsOf(*f.logged));
    addValue(record, Quantity::LearningRate, bitsOf(f.rate));
    if (replica_.config().clipNorm > 0)
        addValue(record, Quantity::ClipNormTorch, bitsOf(double(f.clipNorm)));
    if (f.scale > 0) {
        addValue(record, Quantity::ScalerScale, bitsOf(f.scale));
        addValue(record, Quantity::FoundInf, f.foundInf ? 1 : 0);
        addValue(record, Quantity::StepSkipped, f.foundInf ? 1 : 0);
    }
    addValue(record, Quantity::TimeData, bitsOf(f.timeData));
    addValue(record, Quantity::TimeForward, bitsOf(f.timeForward));
    addValue(record, Quantity::TimeBackward, bitsOf(f.timeBackward));
    addValue(record, Quantity::TimeWait, bitsOf(f.timeWait));
    addValue(record, Quantity::TimeOptimizer, bitsOf(f.timeOptimizer));
    addValue(record, Quantity::TimeStep, bitsOf(f.timeStep));
}

void StepProbe::addCollectives(StepRecord& record, const CollectiveFacts& collectives) const
{
    if (replica_.config().mode == "twin") // it has none
        return;
    addValue(record, Quantity::CollectiveCount, std::uint64_t(collectives.count));
    addValue(record, Quantity::CollectiveBytes, std::uint64_t(collectives.bytes));
    addValue(record, Quantity::CollectiveDtype, std::uint64_t(collectives.gradientDtype));
}

void StepProbe::recordTensors()
{
    const GradientMeasure& local = local_.empty() ? reduced_ : local_;
    TensorRecord record;
    record.rank = replica_.rank();
    record.step = replica_.step();
    for (std::size_t i = 0; i < layout_.parameterNames.size(); ++i) {
        TensorRecord t = record;
        t.name = layout_.parameterNames[i];
        if (local.has(i)) {
            t.has |= TensorRecord::Local;
            t.localNorm = local.normOf(i) / localScale();
            t.localFingerprint = local.fingerprintOf(i);
        }
        if (reduced_.has(i)) {
            t.has |= TensorRecord::Reduced;
            t.reducedNorm = reduced_.normOf(i);
            t.reducedFingerprint = reduced_.fingerprintOf(i);
        }
        state().addTo(t, i);
        recorder_.add(t);
    }
    for (std::size_t i = 0; i < layout_.bufferNames.size(); ++i) {
        const TensorSpan b = readable(replica_.buffers()[i]);
        TensorRecord t = record;
        t.name = layout_.bufferNames[i];
        t.buffer = true;
        t.has = TensorRecord::State;
        t.stateNorm = b.isFloat ? std::sqrt(sumOfSquares(b.floats(), b.count)) : 0;
        t.stateFingerprint = fingerprint(b.data, b.count, b.elementSize);
        recorder_.add(t);
    }
}

StepRecord StepProbe::measureState(const at::Tensor& generator)
{
    StepRecord record;
    record.rank = replica_.rank();
    record.step = replica_.step();
    addState(record, generator);
    return record;
}

void StepProbe::recordInitial(const at::Tensor& generator)
{
    const StepRecord record = measureState(generator);
    if (perTensor_)
        recordTensors();
    recorder_.add(record);
}

// The step's own record comes last: who has it has the rest of the step, too.
void StepProbe::record(const CollectiveFacts& collectives, const at::Tensor& generator)
{
    StepRecord record;
    record.rank = replica_.rank();
    record.step = replica_.step();
    record.values.reserve(48);
    addFacts(record);
    addCollectives(record, collectives);
    addGradients(record);
    addState(record, generator);
    recordSamples(record);
    if (perTensor_)
        recordTensors();
    writeKept();
    recorder_.add(record);
}

void StepProbe::recordEvaluation()
{
    StepRecord record;
    record.rank = replica_.rank();
    record.step = replica_.step();
    addTo(record, *replica_.facts().evaluation);
    recorder_.add(record);
}

} // namespace lockstep
