// The published toy: Linear 128-64, ReLU, Linear 64-10 on 1,000 samples whose features all equal i mod 10,
// label i mod 10. Parameter names are those of nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64,
// 10)).
#include "core/engine/workloads/layers.h"
#include "core/engine/workloads/table_workload.h"

namespace lockstep {

namespace {

constexpr std::int64_t kSamples = 1000;
constexpr std::int64_t kEvaluation = 211; // further samples of the same kind
constexpr std::int64_t kFeatures = 128;
constexpr std::int64_t kHidden = 64;
constexpr std::int64_t kClasses = 10;

class ToyModel final : public Model
{
public:
    ToyModel(double dropout, bool unusedLayer) : dropout_(dropout)
    {
        first_ = register_module("0", torch::nn::Linear(kFeatures, kHidden));
        second_ = register_module("2", torch::nn::Linear(kHidden, kClasses));
        if (unusedLayer)
            register_module("unused", torch::nn::Linear(3, 3));
    }

    at::Tensor forward(const Batch& batch) override
    {
        at::Tensor hidden = at::relu(linear(first_, batch.input));
        if (dropout_ > 0)
            hidden = at::dropout(hidden, dropout_, is_training());
        return linear(second_, hidden);
    }

private:
    double dropout_;
    torch::nn::Linear first_{nullptr};
    torch::nn::Linear second_{nullptr};
};

TableData toyData(std::int64_t first, std::int64_t count)
{
    std::vector<float> rows;
    std::vector<std::int64_t> labels;
    for (std::int64_t i = first; i < first + count; ++i) {
        rows.insert(rows.end(), kFeatures, float(i % kClasses));
        labels.push_back(i % kClasses);
    }
    return {std::move(rows), std::move(labels), {kFeatures}};
}

class ToyMlp final : public TableWorkload
{
public:
    explicit ToyMlp(const RunConfig& config)
        : TableWorkload(toyData(0, kSamples), toyData(kSamples, kEvaluation)),
          dropout_(config.dropout),
          unusedLayer_(workloadFlag(config, "unused_layer"))
    {
    }

    std::shared_ptr<Model> model() const override
    {
        return std::make_shared<ToyModel>(dropout_, unusedLayer_);
    }

private:
    double dropout_; // the published model has none; --dropout adds it after the ReLU
    bool unusedLayer_;
};

const WorkloadRegistration registration({
    {"toy-mlp",
     "the published 128-64-10 network on 1,000 synthetic samples",
     20,
     {"unused_layer: 1 adds a layer that forward never uses"}},
    [](const RunConfig& config) -> std::unique_ptr<Workload> { return std::make_unique<ToyMlp>(config); },
});

} // namespace

} // namespace lockstep
