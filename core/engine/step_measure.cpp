#include "core/engine/step_measure.h"

#include "core/base/fingerprint.h"

#include <cmath>
#include <numeric>

namespace lockstep {

GradientMeasure::GradientMeasure(const StateLayout& layout, bool perTensor) : perTensor_(perTensor)
{
    signs_ = projectionSigns(
        std::accumulate(layout.parameterSizes.begin(), layout.parameterSizes.end(), std::size_t(0)));
    const std::uint8_t* signs = signs_.data();
    for (const std::size_t size : layout.parameterSizes) {
        Part part;
        part.signs = signs;
        part.count = size;
        parts_.push_back(part);
        signs += size;
    }
}

void GradientMeasure::clear()
{
    for (Part& part : parts_)
        part.present = false;
    empty_ = true;
}

void GradientMeasure::add(std::size_t parameter, const float* data)
{
    Part& part = parts_[parameter];
    part.present = true;
    part.sums = gradientSums(data, part.signs, part.count);
    if (perTensor_)
        part.fingerprint = fingerprint(data, part.count, sizeof(float));
    empty_ = false;
}

double GradientMeasure::norm() const
{
    double squares = 0;
    for (const Part& part : parts_)
        if (part.present)
            squares += part.sums.squares;
    return std::sqrt(squares);
}

Projection GradientMeasure::projection() const
{
    Projection sums = {};
    for (const Part& part : parts_)
        for (std::size_t k = 0; part.present && k < sums.size(); ++k)
            sums[k] += part.sums.projection[k];
    return sums;
}

double GradientMeasure::normOf(std::size_t parameter) const
{
    return std::sqrt(parts_[parameter].sums.squares);
}

StateMeasure::StateMeasure(const StateLayout& layout, bool perTensor)
    : previous_(std::accumulate(layout.parameterSizes.begin(), layout.parameterSizes.end(), std::size_t(0))),
      parts_(layout.parameterSizes.size()),
      perTensor_(perTensor)
{
}

void StateMeasure::measure(const TensorSpans& parameters, const TensorSpans& optimizerState)
{
    double squares = 0;
    std::size_t first = 0;
    parameters_ = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const TensorSpan& p = parameters[i];
        const UpdateSums own = takeUpdate(p.floats(), previous_.data() + first, p.count, first);
        squares += own.squares;
        parameters_ += own.fingerprint;
        if (perTensor_)
            parts_[i] = {std::sqrt(own.squares), std::sqrt(sumOfSquares(p.floats(), p.count)),
                         fingerprint(p.data, p.count, p.elementSize)};
        first += p.count;
    }
    update_ = std::sqrt(squares);
    optimizer_ = fingerprintOf(optimizerState);
    ++calls_;
}

void StateMeasure::addTo(StepRecord& record) const
{
    if (calls_ > 1)
        addValue(record, Quantity::UpdateNorm, bitsOf(update_));
    addValue(record, Quantity::ParamFingerprint, parameters_);
    addValue(record, Quantity::OptimizerFingerprint, optimizer_);
}

void StateMeasure::addTo(TensorRecord& record, std::size_t parameter) const
{
    const Part& part = parts_[parameter];
    if (calls_ > 1) {
        record.has |= TensorRecord::Update;
        record.updateNorm = part.update;
    }
    record.has |= TensorRecord::State;
    record.stateNorm = part.norm;
    record.stateFingerprint = part.fingerprint;
}

std::uint64_t fingerprintOf(const TensorSpans& spans)
{
    std::uint64_t sum = 0;
    std::uint64_t first = 0;
    for (const TensorSpan& s : spans) {
        sum += fingerprint(s.data, s.count, s.elementSize, first);
        first += s.count;
    }
    return sum;
}

void addValue(StepRecord& record, Quantity quantity, std::uint64_t bits, std::size_t index)
{
    record.values.push_back({quantity, std::uint16_t(index), bits});
}

void addGradient(StepRecord& record, const GradientMeasure& gradient, double scale, Quantity norm,
                 Quantity projection)
{
    addValue(record, norm, bitsOf(gradient.norm() / scale));
    const Projection sums = gradient.projection();
    for (std::size_t k = 0; k < sums.size(); ++k)
        addValue(record, projection, bitsOf(sums[k] / scale), k);
}

} // namespace lockstep
