// Reduces the tensors of a step to the numbers of its records. Pure arithmetic, no torch; on the training thread, right
// after the tensors were written: they are in its caches then. (Another core would have to fetch them and to give them
// back before the next update; that costs the training more than the arithmetic.)
#pragma once

#include "core/base/projection.h"
#include "core/base/records.h"
#include "core/engine/tensor_span.h"

#include <string>
#include <vector>

namespace lockstep {

// Sizes and names of a model's parameters and buffers, in its order.
struct StateLayout {
    std::vector<std::string> parameterNames;
    std::vector<std::size_t> parameterSizes;
    std::vector<std::string> bufferNames;
};

// A gradient, parameter by parameter in any order: DDP hands them over as they arrive.
class GradientMeasure
{
public:
    GradientMeasure(const StateLayout& layout, bool perTensor);

    void clear();
    void add(std::size_t parameter, const float* data);
    void remove(std::size_t parameter) { parts_[parameter].present = false; }
    bool empty() const { return empty_; }

    double norm() const;
    Projection projection() const;
    // Of one parameter; without fingerprint unless perTensor.
    bool has(std::size_t parameter) const { return parts_[parameter].present; }
    double normOf(std::size_t parameter) const;
    std::uint64_t fingerprintOf(std::size_t parameter) const { return parts_[parameter].fingerprint; }

private:
    struct Part {
        const std::uint8_t* signs = nullptr;
        std::size_t count = 0;
        bool present = false;
        GradientSums sums;
        std::uint64_t fingerprint = 0;
    };
    std::vector<std::uint8_t> signs_;
    std::vector<Part> parts_;
    bool perTensor_;
    bool empty_ = true;
};

// Parameters and optimizer state after a step; ranks of the twin that share them share one of these.
class StateMeasure
{
public:
    StateMeasure(const StateLayout& layout, bool perTensor);

    void measure(const TensorSpans& parameters, const TensorSpans& optimizerState);
    // Update norm (from the second call on), fingerprints of parameters and optimizer state.
    void addTo(StepRecord& record) const;
    // The fields of parameter i; only perTensor.
    void addTo(TensorRecord& record, std::size_t parameter) const;

private:
    struct Part {
        double update = 0;
        double norm = 0;
        std::uint64_t fingerprint = 0;
    };
    std::vector<float> previous_; // parameters at the last call
    std::vector<Part> parts_;
    std::uint64_t parameters_ = 0;
    std::uint64_t optimizer_ = 0;
    double update_ = 0;
    std::size_t calls_ = 0;
    bool perTensor_;
};

// Of a list of tensors, numbered through.
std::uint64_t fingerprintOf(const TensorSpans& spans);

void addValue(StepRecord& record, Quantity quantity, std::uint64_t bits, std::size_t index = 0);
// `scale`: what the gradient is multiplied by (a power of two, so nothing is rounded).
void addGradient(StepRecord& record, const GradientMeasure& gradient, double scale, Quantity norm,
                 Quantity projection);

} // namespace lockstep
