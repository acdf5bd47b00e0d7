#include "core/gates/precision_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lockstep {

namespace {

using Role = PrecisionRun::Role;

// What a resumed run has to repeat: all that is compared but the collectives, which are counted anew (the Reducer joins its
// buckets in the second step of every process).
std::vector<Quantity> ofTraining()
{
    std::vector<Quantity> quantities;
    for (const QuantityInfo& info : allQuantities()) {
        const bool collective = info.id == Quantity::CollectiveCount ||
                                info.id == Quantity::CollectiveBytes || info.id == Quantity::CollectiveDtype;
        if (info.link != CausalLink::None && !collective)
            quantities.push_back(info.id);
    }
    return quantities;
}

} // namespace

Result<std::optional<Comparison>> PrecisionChecks::hold(Role roleA, Role roleB, const char* id,
                                                        const CompareOptions& options)
{
    const PrecisionRecord *a = record(roleA), *b = record(roleB);
    if (!a || !b) {
        cannotJudge(id, "A run this check needs is missing.");
        return std::optional<Comparison>();
    }
    Result<Comparison> compared = compareRuns(*a->reader, a->config, *b->reader, b->config, options);
    if (!compared)
        return compared.error();
    if (compared->verdict == Verdict::CannotCompare) {
        cannotJudge(id, compared->reason);
        return std::optional<Comparison>();
    }
    return std::optional(std::move(compared).value());
}

void PrecisionChecks::switches()
{
    const PrecisionRecord* ddp = record(Role::Ddp);
    const std::vector<std::string> on = switchedOn(request_.base);
    if (!ddp)
        return cannotJudge("precision.switched_on", "The run of all ranks is missing.");
    const std::string clip = ddp->config.clipNorm > 0 ? fmt::format("norm {:g}", ddp->config.clipNorm)
                                                      : fmt::format("value {:g}", ddp->config.clipValue);
    if (ddp->config.amp == "off") {
        cannotJudge("precision.switched_on", "Mixed precision is off: this engine cannot do it with this "
                                             "configuration. The other checks hold for full precision only.");
        return;
    }
    add("precision.switched_on", true, fmt::format("{}, clipping by {}", ddp->config.amp, clip), "on",
        on.empty() ? std::string("The runs train with mixed precision and clipping as configured.")
                   : fmt::format("This phase switched on {}.", fmt::join(on, " and ")));
}

Result<GateInfo> PrecisionChecks::judge()
{
    gate_.phase = "precision";
    gate_.configJson = toJson(request_.base);
    const std::int64_t half = halfOf(request_);
    switches();
    const auto steps = {
        measure(),
        envelope(Role::Single, Role::Ddp, 0, "precision.envelope",
                 "DDP against one process on the same global batches, with mixed precision and clipping."),
        scaler(),
        clipping(),
    };
    for (const Status& step : steps)
        if (!step)
            return step.error();
    for (GateCheck& check : judgeCheckpoint(checkpoint_))
        gate_.checks.push_back(std::move(check));
    const auto resumes = {
        // What the first step after loading computes shows the state that was loaded: its loss the weights and the random
        // numbers, its update the optimizer.
        exact(Role::Ddp, Role::Resumed, half + 1, half + 2, "precision.rollback",
              fmt::format(
                  "Training went on to step {}; from the file of step {}, step {} comes out as it did: loss, "
                  "gradient, update, weights, buffers, optimizer and random numbers in every bit.",
                  2 * half, half, half + 1),
              ofTraining()),
        exact(Role::Ddp, Role::Resumed, half + 1, INT64_MAX, "precision.resume",
              "The interrupted and resumed run equals the uninterrupted one.", ofTraining()),
        counters(),
        envelope(Role::Ddp, Role::DdpToSingle, half + 1, "precision.ddp_to_single",
                 "One process goes on from the checkpoint of the ranks with the same global batch."),
        envelope(Role::Single, Role::SingleToDdp, half + 1, "precision.single_to_ddp",
                 "The ranks go on from the checkpoint of one process with the same global batch."),
    };
    for (const Status& resume : resumes)
        if (!resume)
            return resume.error();
    // What cannot be asked here keeps no gate closed: a single process that is another function by design, a Python that
    // is not installed.
    gate_.verdict = verdictOf(gate_.checks, [this](const GateCheck& check) {
        return check.id == "precision.python" || (statistics_ && check.sentence == noEnvelope_);
    });
    return std::move(gate_);
}

Result<GateInfo> judgePrecision(const PrecisionRequest& request, const std::vector<PrecisionRecord>& records,
                                const CheckpointFacts& checkpoint)
{
    return PrecisionChecks(request, records, checkpoint).judge();
}

} // namespace lockstep
