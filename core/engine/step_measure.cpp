#include "core/engine/step_measure.h"

#include "core/base/fingerprint.h"
#include "core/base/projection.h"

#include <cmath>
#include <cstring>
#include <utility>

namespace lockstep {

namespace {

double normOf(const TensorSpans& spans)
{
    double sum = 0;
    for (const TensorSpan& s : spans)
        if (s.data && s.isFloat)
            sum += sumOfSquares(s.floats(), s.count);
    return std::sqrt(sum);
}

std::uint64_t fingerprintOf(const TensorSpans& spans)
{
    std::uint64_t sum = 0;
    std::uint64_t first = 0;
    for (const TensorSpan& s : spans) {
        if (s.data)
            sum += fingerprint(s.data, s.count, s.elementSize, first);
        first += s.count;
    }
    return sum;
}

std::size_t elementsOf(const TensorSpans& spans)
{
    std::size_t n = 0;
    for (const TensorSpan& s : spans)
        n += s.count;
    return n;
}

void add(StepRecord& record, Quantity quantity, std::uint64_t bits, std::uint16_t index = 0)
{
    record.values.push_back({quantity, index, bits});
}

void addProjections(StepRecord& record, Quantity quantity, const TensorSpans& spans,
                    const std::uint8_t* signs)
{
    Projection sums = {};
    for (const TensorSpan& s : spans) {
        if (s.data && s.isFloat)
            addProjection(s.floats(), signs, s.count, sums);
        signs += s.count;
    }
    for (int k = 0; k < kProjections; ++k)
        add(record, quantity, bitsOf(sums[std::size_t(k)]), std::uint16_t(k));
}

TensorRecord tensorRecord(const StepJob& job, const std::string& name, bool buffer)
{
    TensorRecord t;
    t.rank = job.record.rank;
    t.step = job.record.step;
    t.name = name;
    t.buffer = buffer;
    return t;
}

} // namespace

StepMeasure::StepMeasure(StateNames names, bool perTensor) : names_(std::move(names)), perTensor_(perTensor)
{
}

void StepMeasure::measure(StepJob& job, std::vector<TensorRecord>& tensors)
{
    if (signs_.empty())
        signs_ = projectionSigns(elementsOf(job.parameters));
    measureGradients(job);
    if (!job.sharedState)
        measureState(job);
    StepRecord& record = job.record;
    if (state_.hasUpdate)
        add(record, Quantity::UpdateNorm, bitsOf(state_.update));
    add(record, Quantity::ParamFingerprint, state_.parameters);
    add(record, Quantity::OptimizerFingerprint, state_.optimizer);
    add(record, Quantity::BufferFingerprint, fingerprintOf(job.buffers));
    if (job.generator.data)
        add(record, Quantity::RngCpu,
            fingerprint(job.generator.data, job.generator.count, job.generator.elementSize));
    if (perTensor_)
        addTensorRecords(job, tensors);
}

void StepMeasure::measureGradients(StepJob& job)
{
    StepRecord& record = job.record;
    // Without a reduction the local gradient is the gradient: the numbers are formed once.
    const bool oneSet = job.localGradients.empty();
    if (!oneSet) {
        add(record, Quantity::GradNormLocal, bitsOf(normOf(job.localGradients)));
        addProjections(record, Quantity::GradProjLocal, job.localGradients, signs_.data());
    }
    if (!job.gradients.empty()) {
        const double norm = normOf(job.gradients);
        add(record, Quantity::GradNorm, bitsOf(norm));
        if (oneSet)
            add(record, Quantity::GradNormLocal, bitsOf(norm));
        const std::size_t at = record.values.size();
        addProjections(record, Quantity::GradProj, job.gradients, signs_.data());
        for (int k = 0; oneSet && k < kProjections; ++k)
            add(record, Quantity::GradProjLocal, record.values[at + std::size_t(k)].bits, std::uint16_t(k));
    }
    if (!job.clippedGradients.empty())
        add(record, Quantity::GradNormClipped, bitsOf(normOf(job.clippedGradients)));
}

void StepMeasure::measureState(StepJob& job)
{
    std::vector<float>& previous = previous_[job.record.rank];
    const bool known = !previous.empty();
    if (!known)
        previous.resize(elementsOf(job.parameters));
    state_ = {};
    state_.hasUpdate = known;
    double squares = 0;
    std::size_t first = 0;
    for (const TensorSpan& p : job.parameters) {
        float* before = previous.data() + first;
        if (known) {
            const double own = sumOfSquaredDifferences(p.floats(), before, p.count);
            squares += own;
            if (perTensor_)
                state_.updateNorms.push_back(std::sqrt(own));
        }
        std::memcpy(before, p.data, p.count * sizeof(float));
        state_.parameters += fingerprint(before, p.count, p.elementSize, first);
        if (perTensor_) {
            state_.parameterPrints.push_back(fingerprint(before, p.count, p.elementSize));
            state_.parameterNorms.push_back(std::sqrt(sumOfSquares(before, p.count)));
        }
        first += p.count;
    }
    state_.update = std::sqrt(squares);
    state_.optimizer = fingerprintOf(job.optimizerState);
}

void StepMeasure::addTensorRecords(const StepJob& job, std::vector<TensorRecord>& tensors) const
{
    const TensorSpans& local = job.localGradients.empty() ? job.gradients : job.localGradients;
    for (std::size_t i = 0; i < names_.parameters.size(); ++i) {
        TensorRecord t = tensorRecord(job, names_.parameters[i], false);
        if (i < local.size() && local[i].data) {
            t.has |= TensorRecord::Local;
            t.localNorm = std::sqrt(sumOfSquares(local[i].floats(), local[i].count));
            t.localFingerprint = fingerprint(local[i].data, local[i].count, local[i].elementSize);
        }
        if (i < job.gradients.size() && job.gradients[i].data) {
            const TensorSpan& g = job.gradients[i];
            t.has |= TensorRecord::Reduced;
            t.reducedNorm = std::sqrt(sumOfSquares(g.floats(), g.count));
            t.reducedFingerprint = fingerprint(g.data, g.count, g.elementSize);
        }
        if (state_.hasUpdate) {
            t.has |= TensorRecord::Update;
            t.updateNorm = state_.updateNorms[i];
        }
        t.has |= TensorRecord::State;
        t.stateNorm = state_.parameterNorms[i];
        t.stateFingerprint = state_.parameterPrints[i];
        tensors.push_back(std::move(t));
    }
    for (std::size_t i = 0; i < names_.buffers.size(); ++i) {
        const TensorSpan& b = job.buffers[i];
        TensorRecord t = tensorRecord(job, names_.buffers[i], true);
        t.has = TensorRecord::State;
        t.stateNorm = b.isFloat ? std::sqrt(sumOfSquares(b.floats(), b.count)) : 0;
        t.stateFingerprint = fingerprint(b.data, b.count, b.elementSize);
        tensors.push_back(std::move(t));
    }
}

} // namespace lockstep
