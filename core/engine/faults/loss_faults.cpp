// Family B of the fault catalogue, the loss: how it is formed, scaled and weighed.
#include "core/engine/fault.h"

#include <ATen/ATen.h>

namespace lockstep {

namespace {

class SumLoss final : public Fault
{
public:
    explicit SumLoss(const FaultSpec&) {}
    LossReduction reduction() override { return LossReduction::Sum; }
    bool weighsTokens() override { return false; }
};

// B2 and B3: one factor on the loss, on top of DDP's mean over ranks.
class ScaledLoss : public Fault
{
public:
    explicit ScaledLoss(const FaultSpec& spec)
        : factor_(faultNumber(spec, "k", 0)), firstStep_(faultNumber(spec, "step", 1))
    {
    }

protected:
    bool isDue(const FaultMoment& at) const { return double(at.step) >= firstStep_; }
    double factor(const FaultMoment& at) const { return factor_ > 0 ? factor_ : at.world; }

private:
    double factor_;
    double firstStep_;
};

class LossTimesWorld final : public ScaledLoss
{
public:
    using ScaledLoss::ScaledLoss;
    void loss(const FaultMoment& at, at::Tensor& loss) override
    {
        if (isDue(at))
            loss = loss * factor(at);
    }
};

class LossOverWorld final : public ScaledLoss
{
public:
    using ScaledLoss::ScaledLoss;
    void loss(const FaultMoment& at, at::Tensor& loss) override
    {
        if (isDue(at))
            loss = loss / factor(at);
    }
};

// B5: every rank takes the mean over its own tokens, and DDP the mean of those.
class OwnTokens final : public Fault
{
public:
    explicit OwnTokens(const FaultSpec&) {}
    bool weighsTokens() override { return false; }
};

class AccumulationNotDivided final : public Fault
{
public:
    explicit AccumulationNotDivided(const FaultSpec& spec) : factor_(faultNumber(spec, "k", 0)) {}
    double divisor(const FaultMoment&, double micros) override { return factor_ > 0 ? micros / factor_ : 1; }

private:
    double factor_;
};

const std::string kFactor = "k: factor instead of the world size";

const FaultRegistration lossRegistrations[] = {
    faultRegistration<SumLoss>({.id = "B1",
                                .sentence = "the loss is the sum over the batch; DDP averages the sums",
                                .title = "sum loss",
                                .signs =
                                    "rank losses are the batch times too large; cosine 1, gradient ratio "
                                    "the batch of a rank (1/W against a single run with the same sum)",
                                .sources = "DDP documentation note; pytorch #37359"}),
    faultRegistration<LossTimesWorld>(
        {.id = "B2",
         .sentence = "the mean loss is multiplied by the world size, although DDP averages",
         .parameters = {kFactor, kFirstStep},
         .title = "mean loss times W",
         .signs = "losses equal, cosine 1, local and reduced gradient W times too large",
         .sources = "sparseml PR #135; tevatron #143; yolov5 #8892"}),
    faultRegistration<LossOverWorld>(
        {.id = "B3",
         .sentence = "the loss is divided by the world size, and DDP averages too",
         .parameters = {kFactor, kFirstStep},
         .title = "divided by W twice",
         .signs = "losses equal, cosine 1, gradient ratio 1/W",
         .sources = "bgpt #5; 3detr #56"}),
    faultRegistration<OwnTokens>(
        {.id = "B5",
         .sentence = "each rank takes the mean over its own tokens, and DDP the mean of these means",
         .title = "token weighting",
         .signs = "tokens differ between ranks; the difference vanishes when local gradients are weighed by "
                  "tokens",
         .sources = "transformers PR #34191, #34198, #34373, #37474; torchtune PR #1875; Megatron-LM #7452",
         .needs = {FaultNeed::Tokens}}),
    faultRegistration<AccumulationNotDivided>(
        {.id = "B6",
         .sentence = "the losses of accumulated micro-batches are not divided by their number",
         .parameters = {"k: factor instead of the number of micro-batches"},
         .title = "accumulation not divided",
         .signs = "losses equal, cosine 1, gradient ratio K in every accumulated step",
         .sources = "distillKitPlus #5; transformers #37766",
         .needs = {FaultNeed::Accumulation}}),
};

} // namespace

} // namespace lockstep
