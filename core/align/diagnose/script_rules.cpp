// Scripts of the user's own, held against the same script in one process. There is no twin of them, so what the script did
// (script_acts.h) takes the place of a replay: it tells apart what the numbers alone leave open.
#include "core/align/diagnose/contents.h"
#include "core/align/diagnose/rules.h"
#include "core/align/diagnose/script_acts.h"
#include "core/align/diagnose/unreduced.h"
#include "core/config/json.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace lockstep::align {

namespace {

Evidence seen(const char* label, std::string text, std::optional<Quantity> quantity, std::int64_t step)
{
    return {label, std::move(text), quantity, step, -1, {}};
}

// The ranks end the reduction with gradients of their own: which part of DDP's way was not gone.
void reductionLeftOut(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.world() < 2 ? -1 : c.sus().firstSpread(Quantity::GradNorm, 1);
    if (step < 1 || (c.rankByRank() && step != c.start()))
        return;
    const std::optional<ReductionActs> acts = reductionActs(c.sus(), step);
    if (!acts)
        return;
    bool alone = true; // every rank kept its own gradient, in every bit
    for (const int rank : c.sus().ranks()) {
        const std::optional<Relation> own = c.ownLocal(rank, step);
        alone = alone && own && own->equal;
    }
    const std::string last = acts->forward.back();
    const bool reduces =
        std::find(acts->backward.begin(), acts->backward.end(), "sync") != acts->backward.end();
    const char* cause = nullptr;
    std::string fact;
    if (!reduces) {
        cause = "B8";
        fact = fmt::format("At step {} every backward pass runs with DDP's synchronisation off (no_sync).",
                           step);
    } else if (acts->backward.back() == "no_sync") {
        cause = "B8";
        fact = fmt::format("At step {} the last backward pass runs with DDP's synchronisation off (no_sync), "
                           "and no later one sends its gradients.",
                           step);
    } else if (const Unreduced rest = unreducedParameters(c, step);
               last == "bypassed" && !(rest.wholeModel && rest.unknown)) { // C10: it was never wrapped
        cause = "C1";
        fact = fmt::format("At step {} the forward pass does not go through the DDP wrapper.", step);
    } else if (last == "no_sync") {
        cause = "B7";
        fact = fmt::format(
            "At step {} the last forward pass runs with synchronisation off and its backward with "
            "it on: DDP prepares the reduction in the forward.",
            step);
    } else if (alone) {
        cause =
            settingOf(c.sus().traits(), "static_graph") == "true" && acts->forward.size() > 1 ? "C6" : "C2";
        fact =
            fmt::format("At step {} forward and backward go through DDP with synchronisation on, and still "
                        "every rank keeps its own gradient.",
                        step);
    }
    if (!cause)
        return;
    Suspicion s = suspect(cause, kSignature + 9, step, "the way through DDP", fact);
    s.evidence.push_back(
        {"gradient after reduction", "differs between ranks", Quantity::GradNorm, step, -1, {}});
    for (const char* other : {"B8", "C1", "B7", "C2"})
        if (std::string_view(other) != cause)
            s.excluded.push_back({other, fact, std::nullopt, step, -1, {}});
    out.push_back(std::move(s));
}

void scaledLoss(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    const bool overflows = step >= 1 && skippedInOne(c.ref(), c.sus(), step);
    // Samples that are changed at random blur the gradient as random layers do.
    const bool changed = bothScripts(c) && step >= 1 && c.link() == CausalLink::Content && !c.rankByRank() &&
                         contentsAt(c, step).changedAtRandom();
    if (!bothScripts(c) || step < 1 || (c.link() < CausalLink::Rng && !changed) ||
        (c.link() > CausalLink::Reduced && !overflows) || c.differsAt(Quantity::SampleIds, step))
        return;
    const std::optional<LossScaling> scaling = lossScaling(c.ref(), c.sus(), step);
    if (!scaling)
        return;
    const std::optional<Relation> mean = c.localMean(step);
    // Random layers and batch statistics turn the gradient; its norm then lies nearer to the factor than to 1.
    const double norm = std::abs(c.ratio(c.sus().ranks().front(), Quantity::GradNorm, step).value_or(1));
    const bool blurred =
        changed || (c.link() == CausalLink::Forward && (drawsEachStep(c.sus()) || batchStatistics(c.sus())));
    const bool seenSo = blurred ? std::abs(std::log(norm / scaling->factor)) < std::abs(std::log(norm))
                                : !mean || overflows || near(mean->ratio, scaling->factor, 1e-2);
    if (scaling->whole && !seenSo)
        return; // the loss is scaled, and that is not what is seen
    // A mean times the samples of a micro-batch is a sum.
    const double samples = c.sus().value(c.sus().ranks().front(), Quantity::Samples, step, 0).value_or(0);
    const bool summed = scaling->summed || (samples > 1 && near(scaling->factor, samples, 1e-6));
    const double world = double(c.sus().traits().ranks());
    const bool ofWorld = near(scaling->factor, world, 1e-6) || near(scaling->factor, 1 / world, 1e-6);
    const char* cause = scaling->notDivided   ? "B6"
                        : scaling->summed     ? "B1"
                        : summed && !ofWorld  ? "B1"
                        : scaling->factor > 1 ? "B2"
                                              : "B3";
    std::string passes;
    if (!scaling->whole)
        for (const std::size_t micro : scaling->micros)
            passes += fmt::format("{}{}", passes.empty() ? " of backward pass " : ", ", micro + 1);
    Suspicion s = suspect(
        cause, kSignature + 8, step, "factors of the loss",
        fmt::format("Before backward the script's factors on the loss{} are {} times the reference's{}.",
                    passes, factorText(scaling->factor),
                    ofWorld ? fmt::format(", with {:g} ranks", world) : ""));
    if (blurred)
        s.evidence.push_back(
            seen("norm of the gradient",
                 fmt::format("{:.3g} times the reference's, under other random masks or batch "
                             "statistics",
                             norm),
                 Quantity::GradNorm, step));
    else if (mean)
        s.evidence.push_back(seen("gradient before reduction, mean of the ranks",
                                  fmt::format("{:.6g} times the reference, {:.1e} of it in another direction",
                                              mean->ratio, mean->residual),
                                  Quantity::GradNormLocal, step));
    if (c.first(Quantity::LearningRate) != step)
        s.excluded.push_back(
            {"D1", "the learning rate is the reference's", Quantity::LearningRate, step, -1, {}});
    out.push_back(s);
    if (summed && !scaling->summed && ofWorld &&
        !scaling->notDivided) { // as many samples as ranks: either is meant
        s.cause = "B1";
        out.push_back(std::move(s));
    }
}

// The loss is reduced before backward: the same on every rank, and what backward makes of it is not changed.
void lossSummed(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (!bothScripts(c) || step < 1 || c.world() < 2 || c.link() != CausalLink::Forward ||
        !callsCollective(c.sus().traits(), "all_reduce") ||
        !c.sus().sameOnRanks(Quantity::Loss, step).value_or(false))
        return;
    const std::optional<Relation> mean = c.localMean(step);
    const std::optional<double> loss = c.lossRatioMean(step);
    if (!mean || !mean->same(c.precision()) || !loss || !near(*loss, c.world(), 1e-5))
        return;
    Suspicion s =
        suspect("B11", kSignature + 5, step, "loss",
                fmt::format("At step {} it is {:g} times the reference's and equal on all ranks, and "
                            "the gradient is the reference's.",
                            step, *loss),
                Quantity::Loss);
    s.sentence = "The loss is summed over the ranks before backward, which reduces no gradient";
    s.fix = "Leave the loss alone before backward; reduce a detached copy for the log, and divide it by the "
            "number of ranks";
    s.excluded.push_back(
        seen("B2", "the gradient before the reduction is the reference's", Quantity::GradNormLocal, step));
    out.push_back(std::move(s));
}

void averageStandsStill(const Case& c, Suspicions& out)
{
    if (!bothScripts(c))
        return;
    const ModelCopies own = modelCopies(c.sus()), theirs = modelCopies(c.ref());
    if (followersMove(c.ref()) && !followersMove(c.sus())) {
        out.push_back(suspect(
            "F8", kSignature + 5, std::max<std::int64_t>(1, c.start()), "parameters that no optimizer has",
            "Parameters outside the optimizer, which move in the reference, never change."));
        return;
    }
    if (own.module.empty() || own.moved || !theirs.moved)
        return;
    out.push_back(suspect(
        "F8", kSignature + 5, own.step, "copy of the model",
        fmt::format("A copy of the model ({}) that moves in the reference has not changed up to step {}.",
                    own.module, own.step)));
}

// One run computes in a narrower format than the other.
void otherPrecision(const Case& c, Suspicions& out)
{
    const std::string &own = c.sus().traits().amp, &theirs = c.ref().traits().amp;
    if (!bothScripts(c) || own == theirs)
        return;
    const std::int64_t step = c.start() >= 1 ? c.start() : 1;
    if (c.start() >= 1 && (c.link() < CausalLink::Forward || c.link() > CausalLink::Update))
        return;
    const double loss = std::abs(c.lossRatioMean(step).value_or(1) - 1);
    if (loss > 0x1p-4)
        return;
    Suspicion s =
        suspect("E3", kSignature + 8, step, "format of the forward pass",
                fmt::format("The forward pass runs under autocast \"{}\" and in the reference under \"{}\".",
                            own, theirs));
    s.evidence.push_back(
        seen("loss, mean of the ranks", fmt::format("{:.1e} off the reference", loss), Quantity::Loss, step));
    out.push_back(std::move(s));
}

// The script loaded a file, or put state into its optimizer, before the first step.
bool resumesAtStart(const RunTrace& run)
{
    return std::any_of(run.events().begin(), run.events().end(), [](const EventRecord& event) {
        return event.step <= 0 &&
               (event.kind == "resume" ||
                (event.kind == "loaded" && event.detail.find("\"optimizer\"") != std::string::npos));
    });
}

// Before the first step nothing was added up: weights that were made or loaded alike are the same bits.
void otherStart(const Case& c, Suspicions& out)
{
    if (!bothScripts(c) || c.rankByRank())
        return;
    const int rank = c.sus().ranks().front();
    const auto differs = [&](Quantity quantity) {
        const auto own = c.sus().bits(rank, quantity, 0), theirs = c.ref().bits(c.refRank(rank), quantity, 0);
        return own && theirs && *own != *theirs && c.sus().sameOnRanks(quantity, 0).value_or(false);
    };
    const bool loaded = resumesAtStart(c.sus()) || resumesAtStart(c.ref());
    if (differs(Quantity::ParamFingerprint)) {
        Suspicion s =
            suspect(loaded ? "F1" : "C7", loaded ? kSignature + 8 : kPattern, 0, "parameters at step 0",
                    "All ranks start from the same weights, and these are not the reference's.",
                    Quantity::ParamFingerprint);
        s.excluded.push_back(
            seen("B8", "the weights differ before any gradient was reduced", Quantity::ParamFingerprint, 0));
        out.push_back(std::move(s));
    } else if (differs(Quantity::OptimizerFingerprint)) { // new ones are all alike
        out.push_back(
            suspect("F5", kSignature + 7, std::max<std::int64_t>(1, c.start()), "state of the optimizer",
                    "Before the first step the optimizer's state is not the reference's; the weights are.",
                    Quantity::OptimizerFingerprint));
    }
}

void buffersNotBroadcast(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.world() < 2 ? -1 : c.sus().firstSpread(Quantity::BufferFingerprint, 1);
    if (!bothScripts(c) || step < 1 || settingOf(c.sus().traits(), "broadcast_buffers") != "false")
        return;
    Suspicion s =
        suspect("C9", kSignature, step, "buffers of the ranks",
                fmt::format("From step {} the ranks hold different buffers, and DDP was told not to send "
                            "rank 0's (broadcast_buffers=False).",
                            step),
                Quantity::BufferFingerprint);
    if (c.sus().sameOnRanks(Quantity::ParamFingerprint, step).value_or(false))
        s.excluded.push_back(
            {"B8", "the parameters are equal on all ranks", Quantity::ParamFingerprint, step, -1, {}});
    out.push_back(std::move(s));
}

// Every rank got the same sum, off by what a narrower format rounds away.
void narrowSum(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.start();
    if (!bothScripts(c) || step < 1 || c.link() < CausalLink::PreReduction ||
        c.link() > CausalLink::Reduced || !sumsNarrow(c.sus(), step) ||
        c.ref().traits().amp != c.sus().traits().amp)
        return;
    const std::optional<Relation> reduced = c.reduced(c.sus().ranks().front(), step);
    if (!reduced || reduced->distance > 0x1p-4)
        return;
    Suspicion s =
        suspect("E2", kSignature + 8, step, "gradient after reduction",
                fmt::format("At step {} gradients were sent in a 16-bit format; their sum is {:.1e} off.",
                            step, reduced->distance),
                Quantity::GradNorm);
    s.excluded.push_back(
        {"C11", "all ranks got the same sum, wrong by rounding only", Quantity::GradNorm, step, -1, {}});
    out.push_back(std::move(s));
}

// A tolerant load that took none of the file's names.
void namesDidNotMatch(const Case& c, Suspicions& out)
{
    const auto found = [](const RunTrace& run) {
        return std::find_if(run.events().begin(), run.events().end(),
                            [](const EventRecord& event) { return event.kind == "nothing_loaded"; });
    };
    if (!bothScripts(c) || found(c.ref()) != c.ref().events().end())
        return;
    const auto event = found(c.sus());
    if (event == c.sus().events().end())
        return;
    rapidjson::Document json;
    json.Parse(event->detail.c_str());
    const auto name = [&](const char* key) {
        return json.IsObject() && json.HasMember(key) && json[key].IsString() ? json[key].GetString() : "";
    };
    out.push_back(suspect(
        "F1", kSignature + 8, event->step, "names in the file and in the model",
        fmt::format("After step {} load_state_dict took nothing: the model has for example \"{}\", the "
                    "file \"{}\".",
                    event->step, name("missing"), name("unexpected"))));
}

// What makes all ranks' parts equally long repeats some samples: a sampler fewer than there are ranks, others whole batches.
void paddedEvaluation(const Case& c, Suspicions& out)
{
    if (!bothScripts(c) || c.world() < 2)
        return;
    struct Turn {
        std::vector<std::int64_t> ofRanks;
        std::int64_t batch = 1; // the largest
        bool gathered = false,
             told = true; // whether the ranks' answers were gathered; whether that is recorded
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Turn> turns; // by step and size
    for (const EventRecord& event : c.sus().events()) {
        rapidjson::Document json;
        json.Parse(event.detail.c_str());
        if (event.kind == "evaluation" && json.IsObject() && json.HasMember("samples") &&
            json.HasMember("set") && json["samples"].IsInt64() && json["set"].IsInt64()) {
            Turn& turn = turns[{event.step, json["set"].GetInt64()}];
            turn.ofRanks.push_back(json["samples"].GetInt64());
            if (json.HasMember("batch") && json["batch"].IsInt64())
                turn.batch = std::max(turn.batch, json["batch"].GetInt64());
            const bool told = json.HasMember("gathered") && json["gathered"].IsBool();
            turn.told = turn.told && told;
            turn.gathered = turn.gathered || (told && json["gathered"].GetBool());
        }
    }
    for (const auto& [key, turn] : turns) {
        const auto& [step, size] = key;
        const std::vector<std::int64_t>& ofRanks = turn.ofRanks;
        const std::int64_t all = std::accumulate(ofRanks.begin(), ofRanks.end(), std::int64_t(0));
        // Whole batches may be repeated. A rank that evaluates all of the set repeats nothing.
        if (int(ofRanks.size()) != c.world() || all <= size || all >= size + c.world() * turn.batch ||
            (c.world() > 1 && *std::max_element(ofRanks.begin(), ofRanks.end()) >= size))
            continue;
        // A script that gathers the answers can leave the repeats out, and most do.
        Suspicion s = suspect(
            "F9", turn.told && !turn.gathered ? kPattern + 5 : kPattern - 1, std::max<std::int64_t>(1, step),
            "samples evaluated",
            fmt::format("At step {} the ranks evaluate {} samples, and the set has {}. {}", step, all, size,
                        !turn.told      ? "Whether the metric leaves the repeats out is not recorded."
                        : turn.gathered ? "The answers are gathered: check that the repeats are cut off."
                                        : "No answers are gathered, so the repeats are counted."));
        s.open = !turn.told;
        s.benign = turn.gathered;
        s.excluded.push_back(
            {"A5", "the repeats are in the evaluation, not in the training", {}, step, -1, {}});
        out.push_back(std::move(s));
        return;
    }
}

constexpr Rule kRules[] = {namesDidNotMatch, paddedEvaluation,   narrowSum,          reductionLeftOut,
                           scaledLoss,       lossSummed,         averageStandsStill, otherPrecision,
                           otherStart,       buffersNotBroadcast};

} // namespace

std::span<const Rule> scriptRules()
{
    return kRules;
}

} // namespace lockstep::align
