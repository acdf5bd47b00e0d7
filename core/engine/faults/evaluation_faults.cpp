// Family F of the fault catalogue, the evaluation.
#include "core/engine/fault.h"

namespace lockstep {

namespace {

class RepeatsCounted final : public Fault
{
public:
    explicit RepeatsCounted(const FaultSpec&) {}
    bool trimsEvaluation() override { return false; }
};

const FaultRegistration evaluationRegistrations[] = {
    faultRegistration<RepeatsCounted>(
        {.id = "F9",
         .sentence = "the samples that the sampler repeats to give all ranks equally many enter the metric",
         .title = "padded evaluation",
         .signs =
             "eval_samples is above eval_set_size; eval_loss and eval_accuracy change with the number of "
             "ranks, training does not",
         .sources = "rf-detr #1507; pytorch #25162; accelerate PR #540",
         .needs = {FaultNeed::Several, FaultNeed::Evaluation, FaultNeed::UnevenEvaluation}}),
};

} // namespace

} // namespace lockstep
