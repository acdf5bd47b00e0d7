// A small convolutional network with BatchNorm and dropout on the shipped 8 x 8 digits
// (resources/data/README.md).
#include "core/engine/embedded_data.h"
#include "core/engine/workloads/layers.h"
#include "core/engine/workloads/table_workload.h"

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>

namespace lockstep {

namespace {

constexpr std::int64_t kSide = 8;
constexpr std::int64_t kPixels = kSide * kSide;
constexpr std::int64_t kClasses = 10;
constexpr double kDropout = 0.25;
// All digits are trained on. Evaluated is every fifth one, moved one pixel to the right: images no training step sees.
constexpr std::int64_t kEvaluation = 359;
constexpr std::size_t kEvery = 5;

torch::nn::Conv2d convolution(std::int64_t in, std::int64_t out)
{
    return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).padding(1));
}

class DigitsModel final : public Model
{
public:
    DigitsModel(double dropout, bool unusedLayer) : dropout_(dropout)
    {
        conv1_ = register_module("conv1", convolution(1, 16));
        bn1_ = register_module("bn1", torch::nn::BatchNorm2d(16));
        conv2_ = register_module("conv2", convolution(16, 32));
        bn2_ = register_module("bn2", torch::nn::BatchNorm2d(32));
        fc1_ = register_module("fc1", torch::nn::Linear(32 * (kSide / 2) * (kSide / 2), 64));
        fc2_ = register_module("fc2", torch::nn::Linear(64, kClasses));
        if (unusedLayer)
            register_module("unused", torch::nn::Linear(3, 3));
    }

    at::Tensor forward(const Batch& batch) override
    {
        at::Tensor x = at::relu(bn1_(conv1_(batch.input)));
        x = at::max_pool2d(at::relu(bn2_(conv2_(x))), 2);
        x = at::dropout(at::flatten(x, 1), dropout_, is_training());
        x = at::dropout(at::relu(linear(fc1_, x)), dropout_, is_training());
        return linear(fc2_, x);
    }

private:
    double dropout_;
    torch::nn::Conv2d conv1_{nullptr};
    torch::nn::Conv2d conv2_{nullptr};
    torch::nn::BatchNorm2d bn1_{nullptr};
    torch::nn::BatchNorm2d bn2_{nullptr};
    torch::nn::Linear fc1_{nullptr};
    torch::nn::Linear fc2_{nullptr};
};

// 64 pixels of 0 to 16 and a label per record; pixels are scaled to 0 to 1.
TableData digitsData()
{
    const std::span<const unsigned char> bytes = embeddedDigits();
    std::vector<float> rows;
    std::vector<std::int64_t> labels;
    for (std::size_t at = 0; at + kPixels < bytes.size(); at += kPixels + 1) {
        for (std::size_t p = 0; p < std::size_t(kPixels); ++p)
            rows.push_back(float(bytes[at + p]) / 16);
        labels.push_back(bytes[at + kPixels]);
    }
    return {std::move(rows), std::move(labels), {1, kSide, kSide}};
}

TableData movedDigits()
{
    const std::span<const unsigned char> bytes = embeddedDigits();
    std::vector<float> rows;
    std::vector<std::int64_t> labels;
    for (std::size_t k = 0; k < std::size_t(kEvaluation); ++k) {
        const std::size_t at = k * kEvery * (kPixels + 1);
        for (std::size_t p = 0; p < std::size_t(kPixels); ++p)
            rows.push_back(p % kSide == 0 ? 0 : float(bytes[at + p - 1]) / 16);
        labels.push_back(bytes[at + kPixels]);
    }
    return {std::move(rows), std::move(labels), {1, kSide, kSide}};
}

class DigitsCnn final : public TableWorkload
{
public:
    explicit DigitsCnn(const RunConfig& config)
        : TableWorkload(digitsData(), movedDigits()),
          dropout_(config.dropout < 0 ? kDropout : config.dropout),
          unusedLayer_(workloadFlag(config, "unused_layer"))
    {
    }

    std::shared_ptr<Model> model() const override
    {
        return std::make_shared<DigitsModel>(dropout_, unusedLayer_);
    }

private:
    double dropout_;
    bool unusedLayer_;
};

const WorkloadRegistration registration({
    {"digits-cnn",
     "a convolutional network with BatchNorm and dropout on 1,797 handwritten digits",
     5,
     {"unused_layer: 1 adds a layer that forward never uses"}},
    [](const RunConfig& config) -> std::unique_ptr<Workload> { return std::make_unique<DigitsCnn>(config); },
});

} // namespace

} // namespace lockstep
