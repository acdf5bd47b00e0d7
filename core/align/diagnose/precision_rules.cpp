// Family E: number formats, random streams, and the differences that correct runs have.
#include "core/align/diagnose/rules.h"
#include "core/align/diagnose/script_acts.h"

#include <algorithm>
#include <cmath>

namespace lockstep::align {

namespace {

constexpr double kBf16Dtype = 15; // c10::ScalarType
constexpr double kFp16Dtype = 5;

// As wholes: the gradient is the reference's, or a multiple of it. Then what was drawn in the step is what the one process drew,
// as where all ranks throw the same coin.
bool drewAlike(const Case& c, std::int64_t step)
{
    if (c.rankByRank() || step < 1)
        return false;
    std::optional<Relation> mean = c.localMean(step);
    if (!mean) // shards show none before the reduction
        mean = c.reduced(c.sus().ranks().front(), step);
    return mean && mean->proportional(c.precision());
}

void sharedStream(const Case& c, Suspicions& out)
{
    // The engine seeds every rank's stream by itself. Scripts often seed all ranks alike, which harms nothing that draws
    // nothing.
    if (isUsersScript(c.sus().traits()) && !drawsEachStep(c.sus()))
        return;
    const OtherDraws others = otherDraws(c.sus()); // of numpy and Python
    // Ranks that draw alike and go the way of the one process do so on purpose.
    if (!torchDrawsEachStep(c.sus()) && !others.generators.empty() &&
        (!others.alike || c.link() != CausalLink::Forward))
        return;
    if (isUsersScript(c.sus().traits()) && drewAlike(c, std::max<std::int64_t>(1, c.sus().view().firstStep)))
        return;
    const std::int64_t step = std::max<std::int64_t>(0, c.sus().view().firstStep);
    if (c.world() < 2 || !c.sus().sameOnRanks(Quantity::RngCpu, step).value_or(false))
        return;
    if (c.rankByRank() && c.ref().sameOnRanks(Quantity::RngCpu, step).value_or(true))
        return; // so has the reference: it is what was wanted
    if (step > 0)
        return; // a resumed run: family F
    Suspicion s;
    s.cause = "E6";
    s.fit = kSignature + 7;
    s.step = step;
    s.fact = fmt::format("The generators of all {} ranks have the same state at step {}.", c.world(), step);
    s.evidence.push_back({"fingerprint of the CPU generator", s.fact, Quantity::RngCpu, step, -1, {}});
    s.excluded.push_back({"A8",
                          "the ranks' own streams are equal, not only those of the loader's workers",
                          Quantity::RngCpu,
                          step,
                          -1,
                          {}});
    out.push_back(std::move(s));
}

// As wholes: what a single process cannot share with ranks.
void notShared(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (c.rankByRank() || step < 1 || c.link() < CausalLink::Forward || c.link() > CausalLink::Update)
        return;
    // Only a forward that differs is explained by these, and by no more than their size.
    const double loss = std::abs(c.lossRatioMean(step).value_or(1) - 1);
    const auto add = [&](const char* cause, const std::string& fact, Quantity quantity) {
        Suspicion s;
        s.cause = cause;
        s.fit = kPattern;
        s.step = step;
        s.fact = fact;
        s.benign = true;
        s.evidence.push_back({"loss, mean of the ranks",
                              fmt::format("{:.3g} off the reference, relatively", loss),
                              Quantity::Loss,
                              step,
                              -1,
                              {}});
        s.evidence.push_back({"reading", fact, quantity, step, -1, {}});
        out.push_back(std::move(s));
    };
    if (c.link() != CausalLink::Forward || drewAlike(c, step))
        return;
    const bool script = isUsersScript(c.sus().traits()); // there is no twin of one
    if (torchDrawsEachStep(c.sus()))
        add("E5",
            std::string("The model draws random numbers in every step, and a single process draws other ones "
                        "than the ranks.") +
                (script ? "" : " The twin of the run draws the same."),
            Quantity::RngCpu);
    else if (drawsBesideTorch(c.sus()))
        add("E5",
            fmt::format(
                "The script draws from the generator of {} between a batch and its backward pass, and "
                "a single process draws other numbers than the ranks.",
                otherDraws(c.sus()).generators.front()),
            Quantity::SampleContent);
    if (batchStatistics(c.sus()))
        add("C8",
            std::string("The model keeps batch statistics, which every rank forms from its own samples and a "
                        "single process from all.") +
                (script ? "" : " The twin of the run forms them as the ranks do."),
            Quantity::BufferFingerprint);
}

void otherStream(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.first(Quantity::RngCpu);
    if (!c.rankByRank() || step < 0 || step != c.start() || c.link() != CausalLink::Rng ||
        c.sus().view().firstStep > 0)
        return;
    if (c.sus().sameOnRanks(Quantity::RngCpu, step).value_or(false) && c.world() > 1)
        return; // E6
    Suspicion s;
    s.cause = "E5";
    s.fit = kPattern;
    s.step = step;
    s.benign = true;
    const std::vector<int> off = c.ranksOff(Quantity::RngCpu, step);
    s.rank = off.size() == 1 && c.world() > 1 ? off.front() : -1;
    s.fact = fmt::format("At step {} {} drew other random numbers.", step, rankList(off, c.world()));
    s.evidence.push_back({"fingerprint of the CPU generator", s.fact, Quantity::RngCpu, step, s.rank, {}});
    out.push_back(std::move(s));
}

// The forward differs by more than the rounding of the format and by less than a wrong model would.
void narrowProducts(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (step < 1 || !c.rankByRank() || c.link() < CausalLink::Forward || c.link() > CausalLink::PreReduction)
        return;
    if (c.differsAt(Quantity::SampleIds, step))
        return;
    double loss = 0, gradient = 0, residual = 0;
    for (const int rank : c.sus().ranks()) {
        loss = std::max(loss, std::abs(c.lossRatio(rank, step).value_or(1) - 1));
        if (const std::optional<Relation> local = c.local(rank, step)) {
            gradient = std::max(gradient, local->distance);
            residual = std::max(residual, local->residual);
        }
    }
    const double worst = std::max(loss, gradient);
    const bool rounding = worst <= c.precision();
    const bool script = isUsersScript(c.sus().traits());
    if (!rounding && script && settingOf(c.sus().traits(), "device") != "cuda" &&
        settingOf(c.ref().traits(), "device") != "cuda")
        return; // TF32 is of GPUs
    if (!rounding && (loss > 0x1p-4 || gradient > 0x1p-1 || residual < c.precision()))
        return;
    Suspicion s;
    s.cause = rounding ? "E4" : "E1";
    s.fit = rounding ? kPattern + 15 : c.differsAt(Quantity::Loss, step) ? kSignature - 5 : kPattern - 5;
    s.benign = rounding;
    s.step = step;
    s.fact = fmt::format("At step {} equal inputs and weights give a loss {:.1e} and a gradient {:.1e} off.",
                         step, loss, gradient);
    s.evidence.push_back({"loss from equal inputs",
                          fmt::format("{:.1e} off; float32 rounds to {:.1e}", loss, 0x1p-24),
                          Quantity::Loss,
                          step,
                          -1,
                          {}});
    s.excluded.push_back(
        {rounding ? "E1" : "E4",
         rounding ? "no more than rounding in another order" : "more than rounding in another order",
         Quantity::Loss,
         step,
         -1,
         {}});
    solveStep(s, step);
    out.push_back(std::move(s));
}

// The sum over the ranks is right but for the last bits: of float32 in another order, or of a narrower format.
void reductionRounding(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (step < 1 || c.link() != CausalLink::Reduced)
        return;
    double worst = 0, residual = 0;
    for (const int rank : c.sus().ranks()) {
        const std::optional<Relation> reduced = c.reduced(rank, step);
        if (!reduced)
            return;
        worst = std::max(worst, reduced->distance);
        residual = std::max(residual, reduced->residual);
    }
    const auto dtype = c.sus().value(c.sus().ranks().front(), Quantity::CollectiveDtype, step);
    const bool narrow = dtype == kBf16Dtype || dtype == kFp16Dtype;
    const bool rounding = worst <= c.precision();
    if (worst > 0x1p-4 || (!rounding && !narrow && residual < c.precision()))
        return;
    if (!rounding && c.sus().sameOnRanks(Quantity::GradNorm, step) == false)
        return;
    Suspicion s;
    s.cause = rounding && !narrow ? "C12" : "E2";
    s.benign = rounding && !narrow;
    s.fit = rounding ? kPattern + 15 : narrow ? kSignature + 6 : kPattern + 20;
    s.step = step;
    s.fact = fmt::format("At step {} the sum of equal gradients is {:.1e} off.", step, worst);
    s.evidence.push_back(
        {"gradient after reduction",
         fmt::format("{:.1e} off; bf16 rounds to {:.1e}, float32 to {:.1e}", worst, 0x1p-9, 0x1p-24),
         Quantity::GradNorm,
         step,
         -1,
         {}});
    if (dtype)
        s.evidence.push_back({"format of the gradient collective",
                              fmt::format("c10 scalar type {:g}", *dtype),
                              Quantity::CollectiveDtype,
                              step,
                              -1,
                              {}});
    s.excluded.push_back(
        {"C11", "all ranks got the same sum, wrong by rounding only", Quantity::GradNorm, step, -1, {}});
    solveStep(s, step);
    out.push_back(std::move(s));
}

// Buffers of every rank, the sender's too, are off by the rounding of a narrower format.
void narrowBuffers(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.first(Quantity::BufferFingerprint);
    if (!c.rankByRank() || step < 0 || step != c.start() || c.link() != CausalLink::Buffers)
        return;
    const std::vector<int> off = c.ranksOff(Quantity::BufferFingerprint, step);
    if (std::find(off.begin(), off.end(), c.sus().ranks().front()) == off.end())
        return;
    double worst = 0;
    for (const TensorRecord& record : c.sus().tensors(off.front(), step))
        for (const TensorRecord& other : c.ref().tensors(off.front(), step))
            if (record.buffer && record.name == other.name && other.stateNorm > 0)
                worst = std::max(worst, std::abs(record.stateNorm / other.stateNorm - 1));
    Suspicion s;
    s.cause = "E3";
    s.fit = worst > 0x1p-6 ? kPattern : kSignature;
    s.step = step;
    s.fact = fmt::format(
        "From step {} the buffers of {} are not the reference's although the same batches went through.",
        step, rankList(off, c.world()));
    s.evidence.push_back(
        {"fingerprint of buffers", s.fact, Quantity::BufferFingerprint, step, off.front(), {}});
    if (worst > 0)
        s.evidence.push_back({"norm of the worst buffer",
                              fmt::format("{:.1e} off; bf16 rounds to {:.1e}", worst, 0x1p-9),
                              std::nullopt,
                              step,
                              -1,
                              {}});
    s.excluded.push_back({"C9",
                          fmt::format("the sender, rank {}, differs too", c.sus().ranks().front()),
                          Quantity::BufferFingerprint,
                          step,
                          0,
                          {}});
    solveStep(s, step);
    out.push_back(std::move(s));
}

constexpr Rule kRules[] = {sharedStream,   notShared,         otherStream,
                           narrowProducts, reductionRounding, narrowBuffers};

} // namespace

std::span<const Rule> precisionRules()
{
    return kRules;
}

} // namespace lockstep::align
