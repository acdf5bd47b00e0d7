// The quantities of a run, in one table: the engine fills them, the store keys its series by them, the
// comparison walks them in causal order, the pages show their titles. The numbers are part of the wire and
// store formats: append only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep {

enum class Quantity : std::uint16_t {
    // position on the step axis
    Epoch = 1,
    MicroSteps = 2,  // micro-batches accumulated into this optimizer step
    SamplesSeen = 3, // by all ranks together since the start of training, this step included
    TokensSeen = 4,  // likewise; absent where the workload has no tokens
    // wall times in seconds
    TimeData = 10,
    TimeForward = 11,
    TimeBackward = 12,
    TimeWait = 13, // waiting for the gradient reduction
    TimeOptimizer = 14,
    TimeStep = 15,
    TimeEval = 16, // the evaluation after this step; not part of the step's time
    // forward
    Loss = 20,       // mean over this rank's micro-batches, before any reduction over ranks
    LossMicro = 21,  // index = micro-batch
    Samples = 22,    // index = micro-batch; weight of that micro-batch's loss
    Tokens = 23,     // index = micro-batch
    LossLogged = 24, // what the training script shows to people
    // schedule
    LearningRate = 30, // index = parameter group; the rate this step used
    // gradients; L2 norms over all parameters, float64 accumulation in a fixed order (fingerprint.h)
    GradNormLocal = 40,   // before the reduction over ranks
    GradNorm = 41,        // after the reduction, before clipping
    GradNormClipped = 42, // after clipping; present only when clipping is on
    ClipNormTorch = 43,   // the value torch's clip_grad_norm_ works with; present only when clipping is on
    GradProjLocal = 44,   // index = projection; fixed-seed random projections before the reduction
    GradProj = 45,        // index = projection; the same after the reduction
    // update and state after the optimizer step
    UpdateNorm = 50,
    ParamFingerprint = 51,
    BufferFingerprint = 52,
    OptimizerFingerprint = 53,
    OptimizerStep = 54, // the optimizer's own counter
    // collectives of this step
    CollectiveCount = 60,
    CollectiveBytes = 61,
    CollectiveDtype = 62, // c10::ScalarType number of the gradient collective; -1 if none
    // gradient scaler; present only with fp16
    ScalerScale = 70,
    FoundInf = 71,
    StepSkipped = 72,
    // randomness and data
    RngCpu = 80, // fingerprint of the default CPU generator's state after the step
    RngCuda = 81,
    SampleIds = 82,     // fingerprint of the step's sample ids in order
    SampleContent = 83, // fingerprint of the step's content hashes in order
    // evaluation; present in the steps after which the model was evaluated
    EvalLoss = 90,         // mean over what all ranks counted
    EvalAccuracy = 91,     // right answers by counted ones, 0 to 1
    EvalSamples = 92,      // samples in the metric, all ranks together
    EvalSamplesLocal = 93, // of them, those this rank counted
    EvalSetSize = 94,      // samples of the evaluation set
    // imported logs: whatever no quantity above stands for; index = the series' number in the run's table of
    // imported series, which has its name (core/config/imported_series.h)
    Metric = 200,
};

enum class ValueType : std::uint8_t { F64 = 0, I64 = 1, U64 = 2 };

// The links of the causal chain, earliest first. A difference in one link explains differences in all later
// ones.
enum class CausalLink : std::uint8_t {
    Config,
    SampleIds,
    Content,
    Rng,
    Forward,
    PreReduction,
    Reduced,
    Clipping,
    Update,
    Parameters,
    Buffers,
    Logged,
    None, // not compared: wall times
};

struct QuantityInfo {
    Quantity id;
    std::string_view name; // in exports, on the command line and in JSON, e.g. "grad_norm"
    std::string_view
        title; // for people, English, lower case; translated in the ui under the context "Quantity"
    std::string_view unit; // empty: none
    ValueType type;
    CausalLink link;
    bool indexed; // carries an index (micro-batch, group, projection)
};

std::span<const QuantityInfo> allQuantities();
// nullptr for a number this version does not know (a newer worker may send some).
const QuantityInfo* quantityInfo(Quantity quantity);
const QuantityInfo* quantityByName(std::string_view name);
std::string_view causalLinkName(CausalLink link);

} // namespace lockstep
