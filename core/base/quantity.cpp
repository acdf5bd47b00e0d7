#include "core/base/quantity.h"

#include <algorithm>
#include <array>

namespace lockstep {

namespace {

using enum ValueType;
using Q = Quantity;
using L = CausalLink;

constexpr std::array kQuantities = {
    QuantityInfo{Q::Epoch, "epoch", "epoch", "", I64, L::Config, false},
    QuantityInfo{Q::MicroSteps, "micro_steps", "micro-steps", "", I64, L::Config, false},
    QuantityInfo{Q::SamplesSeen, "samples_seen", "samples seen", "samples", I64, L::Config, false},
    QuantityInfo{Q::TokensSeen, "tokens_seen", "tokens seen", "tokens", I64, L::Config, false},
    QuantityInfo{Q::TimeData, "time_data", "time for data", "s", F64, L::None, false},
    QuantityInfo{Q::TimeForward, "time_forward", "time for forward", "s", F64, L::None, false},
    QuantityInfo{Q::TimeBackward, "time_backward", "time for backward", "s", F64, L::None, false},
    QuantityInfo{Q::TimeWait, "time_wait", "wait for reduction", "s", F64, L::None, false},
    QuantityInfo{Q::TimeOptimizer, "time_optimizer", "time for optimizer", "s", F64, L::None, false},
    QuantityInfo{Q::TimeStep, "time_step", "step time", "s", F64, L::None, false},
    QuantityInfo{Q::TimeEval, "time_eval", "time for evaluation", "s", F64, L::None, false},
    QuantityInfo{Q::Loss, "loss", "loss", "", F64, L::Forward, false},
    QuantityInfo{Q::LossMicro, "loss_micro", "loss of a micro-batch", "", F64, L::Forward, true},
    QuantityInfo{Q::Samples, "samples", "samples of a micro-batch", "samples", I64, L::SampleIds, true},
    QuantityInfo{Q::Tokens, "tokens", "tokens of a micro-batch", "tokens", I64, L::SampleIds, true},
    QuantityInfo{Q::LossLogged, "loss_logged", "loss as logged", "", F64, L::Logged, false},
    QuantityInfo{Q::LearningRate, "lr", "learning rate", "", F64, L::Update, true},
    QuantityInfo{Q::GradNormLocal, "grad_norm_local", "gradient norm before reduction", "", F64,
                 L::PreReduction, false},
    QuantityInfo{Q::GradNorm, "grad_norm", "gradient norm after reduction", "", F64, L::Reduced, false},
    QuantityInfo{Q::GradNormClipped, "grad_norm_clipped", "gradient norm after clipping", "", F64,
                 L::Clipping, false},
    QuantityInfo{Q::ClipNormTorch, "clip_norm_torch", "norm used for clipping", "", F64, L::Clipping, false},
    QuantityInfo{Q::GradProjLocal, "grad_proj_local", "gradient projection before reduction", "", F64,
                 L::PreReduction, true},
    QuantityInfo{Q::GradProj, "grad_proj", "gradient projection after reduction", "", F64, L::Reduced, true},
    QuantityInfo{Q::UpdateNorm, "update_norm", "update norm", "", F64, L::Update, false},
    QuantityInfo{Q::ParamFingerprint, "param_fingerprint", "fingerprint of parameters", "", U64,
                 L::Parameters, false},
    QuantityInfo{Q::BufferFingerprint, "buffer_fingerprint", "fingerprint of buffers", "", U64, L::Buffers,
                 false},
    QuantityInfo{Q::OptimizerFingerprint, "optimizer_fingerprint", "fingerprint of optimizer state", "", U64,
                 L::Update, false},
    QuantityInfo{Q::OptimizerStep, "optimizer_step", "optimizer step counter", "", I64, L::Update, false},
    QuantityInfo{Q::CollectiveCount, "collective_count", "collectives", "", I64, L::Reduced, false},
    QuantityInfo{Q::CollectiveBytes, "collective_bytes", "bytes in collectives", "B", I64, L::Reduced, false},
    QuantityInfo{Q::CollectiveDtype, "collective_dtype", "dtype of the gradient collective", "", I64,
                 L::Reduced, false},
    QuantityInfo{Q::ScalerScale, "scaler_scale", "loss scale", "", F64, L::Clipping, false},
    QuantityInfo{Q::FoundInf, "found_inf", "inf or NaN found", "", I64, L::Clipping, false},
    QuantityInfo{Q::StepSkipped, "step_skipped", "step skipped", "", I64, L::Update, false},
    QuantityInfo{Q::RngCpu, "rng_cpu", "fingerprint of the CPU generator", "", U64, L::Rng, false},
    QuantityInfo{Q::RngCuda, "rng_cuda", "fingerprint of the CUDA generator", "", U64, L::Rng, false},
    QuantityInfo{Q::SampleIds, "sample_ids", "sample ids", "", U64, L::SampleIds, false},
    QuantityInfo{Q::SampleContent, "sample_content", "sample contents", "", U64, L::Content, false},
    QuantityInfo{Q::EvalLoss, "eval_loss", "evaluation loss", "", F64, L::Logged, false},
    QuantityInfo{Q::EvalAccuracy, "eval_accuracy", "evaluation accuracy", "", F64, L::Logged, false},
    QuantityInfo{Q::EvalSamples, "eval_samples", "samples evaluated", "samples", I64, L::Logged, false},
    QuantityInfo{Q::EvalSamplesLocal, "eval_samples_local", "samples evaluated by this rank", "samples", I64,
                 L::Logged, false},
    QuantityInfo{Q::EvalSetSize, "eval_set_size", "size of the evaluation set", "samples", I64, L::Config,
                 false},
    QuantityInfo{Q::Metric, "metric", "other logged value", "", F64, L::Logged, true},
};

constexpr std::array<std::string_view, 13> kLinkNames = {
    "config",   "sample ids", "content",    "RNG",     "forward", "pre-reduction", "reduced",
    "clipping", "update",     "parameters", "buffers", "logged",  "none"};

} // namespace

std::span<const QuantityInfo> allQuantities()
{
    return kQuantities;
}

const QuantityInfo* quantityInfo(Quantity quantity)
{
    const auto it = std::find_if(kQuantities.begin(), kQuantities.end(),
                                 [quantity](const QuantityInfo& info) { return info.id == quantity; });
    return it == kQuantities.end() ? nullptr : &*it;
}

const QuantityInfo* quantityByName(std::string_view name)
{
    const auto it = std::find_if(kQuantities.begin(), kQuantities.end(),
                                 [name](const QuantityInfo& info) { return info.name == name; });
    return it == kQuantities.end() ? nullptr : &*it;
}

std::string_view causalLinkName(CausalLink link)
{
    return kLinkNames.at(static_cast<std::size_t>(link));
}

} // namespace lockstep
