// What a training checkpoint is made of: finds the model's state dict, optimizer states, scheduler, scaler
// and random number states in the tree by their form, and where forms are ambiguous by the names people use.
#pragma once

#include "core/ckpt/checkpoint.h"

#include <string>
#include <vector>

namespace lockstep {

struct ModelKey {
    std::string name; // as load_state_dict names it: "layer.0.weight"
    std::uint32_t tensor = kNone;
};

struct ModelPart {
    std::string path; // where the dict lies, joined by dots: "state_dict"; empty: it is the root
    Value dict;
    bool wholeModule = false; // rebuilt from a pickled module's _parameters, _buffers and _modules
    std::string moduleClass;  // of the root module
    std::vector<ModelKey> keys;
    bool hasMetadata =
        false; // the OrderedDict carries _metadata, so missing BatchNorm counters are filled in by version
};

struct OptimizerGroup {
    std::vector<std::string> params; // ids or names, as text
    std::vector<std::string> names;  // "param_names", where the group has them
};

struct OptimizerParam {
    std::string id;
    std::vector<ModelKey> tensors; // "exp_avg" ...
    // Shape of the parameter as far as its state tells: that of the first tensor that is not a scalar.
    std::vector<std::int64_t> shape;
    bool hasShape = false;
};

struct OptimizerPart {
    std::string path;
    Value dict;
    std::vector<OptimizerGroup> groups;
    std::vector<OptimizerParam> params; // in the order of "state"
};

struct Parts {
    std::vector<ModelPart> models; // the most likely one first
    std::vector<OptimizerPart> optimizers;
    Value scheduler, scaler, rng, sampler; // invalid if absent
    std::int64_t zeroWorldSize = 0;        // DeepSpeed: number of ranks that saved it
    bool hasScheduler = false, hasScaler = false, hasRng = false, hasSampler = false;

    const ModelPart* model() const { return models.empty() ? nullptr : &models.front(); }
};

Parts findParts(const Checkpoint& checkpoint);

// "a, b, c and 7 more".
std::string listNames(const std::vector<std::string>& names, std::size_t most = 3);
// "[3, 8]".
std::string shapeText(std::span<const std::int64_t> shape);

} // namespace lockstep
