// Families C and E of the fault catalogue, precision: in which format and order numbers are multiplied and added.
#include "core/engine/fault.h"

#include <ATen/ATen.h>

namespace lockstep {

namespace {

// E1: what TF32 does to the operands of a matrix product, in a form a CPU can play: 10 bits of mantissa are left of the
// weights and of the model's input. Activations between layers keep theirs.
class Tf32 final : public Fault
{
public:
    explicit Tf32(const FaultSpec&) {}
    void enterPass(const FaultMoment&, const std::vector<at::Tensor>& parameters, Batch& batch) override
    {
        const at::NoGradGuard noGrad;
        if (batch.input.scalar_type() == at::kFloat)
            batch.input = rounded(batch.input);
        whole_.clear();
        for (const at::Tensor& p : parameters) {
            whole_.push_back(p.data());
            if (p.dim() > 1)
                p.set_data(rounded(p.data()));
        }
    }
    void leavePass(const FaultMoment&, const std::vector<at::Tensor>& parameters,
                   const std::vector<at::Tensor>&) override
    {
        for (std::size_t i = 0; i < parameters.size(); ++i)
            if (parameters[i].dim() > 1)
                parameters[i].set_data(whole_[i]);
        whole_.clear();
    }

private:
    // To the nearest of 10 mantissa bits, halves away from zero (cvt.rna.tf32).
    static at::Tensor rounded(const at::Tensor& t)
    {
        const at::Tensor bits = t.contiguous().view(at::kInt).add(1 << 12);
        return bits.bitwise_and(~((1 << 13) - 1)).view(at::kFloat);
    }

    std::vector<at::Tensor> whole_; // of the pass in progress
};

class Bf16Sums final : public Fault
{
public:
    explicit Bf16Sums(const FaultSpec&) {}
    ReductionForm reductionForm(ReductionForm) override { return ReductionForm::Bf16; }
};

// C12: the other of the two orders of adding the ranks' gradients.
class OtherOrder final : public Fault
{
public:
    explicit OtherOrder(const FaultSpec&) {}
    ReductionForm reductionForm(ReductionForm planned) override
    {
        return planned == ReductionForm::Ordered ? ReductionForm::Native : ReductionForm::Ordered;
    }
};

const FaultRegistration precisionRegistrations[] = {
    faultRegistration<OtherOrder>({.id = "C12",
                                   .sentence = "the ranks' gradients are added in another order",
                                   .title = "other reduction order (benign)",
                                   .signs = "local gradients of step 1 are equal, reduced ones differ in the "
                                            "last bits (three ranks or more); "
                                            "the twin in that order is equal in every bit",
                                   .sources = "pytorch #49966; torchtitan PR #3847",
                                   .needs = {FaultNeed::Several}}),
    faultRegistration<Tf32>(
        {.id = "E1",
         .sentence =
             "operands of matrix products are rounded to the 10 mantissa bits of TF32 (weights and input)",
         .title = "TF32",
         .signs = "the loss of step 1 differs by about 1e-4, gradients by 1e-4 to 1e-3, with cosine 1",
         .sources = "pytorch #67384, #61890; tensorflow PR #127577"}),
    faultRegistration<Bf16Sums>(
        {.id = "E2",
         .sentence = "gradients are converted to bfloat16 for the reduction and added in it",
         .title = "bfloat16 reduction",
         .signs = "local gradients of step 1 are equal; the reduced one is off by about 2^-8; dtype of the "
                  "collective",
         .sources = "pytorch #106395; torchtitan PR #1028",
         .needs = {FaultNeed::Several}}),
};

} // namespace

} // namespace lockstep
