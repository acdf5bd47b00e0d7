// A workload: a data set, a model and a loss. One file per workload in workloads/, which registers itself;
// nothing else knows its name.
#pragma once

#include "core/config/run_config.h"
#include "core/engine/catalogue.h"

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

struct Batch {
    at::Tensor input;
    at::Tensor target;
    std::vector<std::int64_t> ids;
    std::int64_t tokens = 0; // that count in the loss; 0: the workload has none
};

class Model : public torch::nn::Module
{
public:
    // [samples, ...] -> [samples or tokens, classes]
    virtual at::Tensor forward(const Batch& batch) = 0;
};

// How micro-batch losses are formed and combined; faults bend it.
enum class LossReduction { Mean, Sum };

class Workload
{
public:
    virtual ~Workload() = default;

    virtual std::int64_t size() const = 0; // samples
    virtual Batch batch(std::vector<std::int64_t> ids) const = 0;
    // Weights are drawn from the default CPU generator, in the order in which the Python model draws them.
    virtual std::shared_ptr<Model> model() const = 0;
    // Scalar. Mean: over samples, or over tokens where the workload has them.
    virtual at::Tensor loss(const at::Tensor& output, const Batch& batch, LossReduction reduction) const = 0;
    // Of the sample as the model sees it.
    virtual std::uint64_t contentHash(std::int64_t id) const = 0;

    // The evaluation set: samples that no training step uses, numbered from 0. Its size is a prime number, so that ranks
    // do not share it evenly.
    virtual std::int64_t evaluationSize() const = 0;
    virtual Batch evaluationBatch(std::vector<std::int64_t> ids) const = 0;
};

// The batch where the model is.
inline Batch onDevice(Batch batch, const RunConfig& config)
{
    if (config.device == "cuda") {
        batch.input = batch.input.to(at::kCUDA);
        batch.target = batch.target.to(at::kCUDA);
    }
    return batch;
}

struct WorkloadEntry {
    WorkloadInfo info;
    std::unique_ptr<Workload> (*create)(const RunConfig& config);
};

std::vector<WorkloadEntry>& workloadRegistry();

struct WorkloadRegistration {
    explicit WorkloadRegistration(WorkloadEntry entry) { workloadRegistry().push_back(std::move(entry)); }
};

// Errors: no workload of this name; the sentence lists those there are.
Result<std::unique_ptr<Workload>> createWorkload(const RunConfig& config);

// "1", "true" or "on" in config.workloadOptions.
bool workloadFlag(const RunConfig& config, const std::string& name);

} // namespace lockstep
