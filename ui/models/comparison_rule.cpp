#include "ui/models/comparison_rule.h"

#include "core/gates/kept_envelope.h"

namespace lockstep {

namespace {

constexpr std::int64_t kStepsLookedAt = 64; // a fact about the model shows at once

int ranksOf(const RunConfig& config)
{
    return config.mode == "single" ? 1 : config.world;
}

// Steps of rank 0 after which a fingerprint is another one than before, and all steps looked at. A series that was not
// recorded changes nothing.
struct Changes {
    std::size_t changed = 0;
    std::size_t seen = 0;
};

Result<Changes> changesOf(RunReader& run, Quantity quantity)
{
    const Result<SeriesData> series = run.read({0, quantity, 0}, 1, 1 + kStepsLookedAt);
    if (!series)
        return series.error();
    Changes out;
    for (std::size_t i = 1; i < series->size(); ++i, ++out.seen)
        out.changed += series->bits[i] != series->bits[i - 1];
    return out;
}

// Held against another number of ranks these say nothing: a process may work through the micro-batches of ranks that are
// not there, and a script may deal its batch otherwise to several ranks than to one. Another batch shows in its samples.
// The diagnosis reads them in the same way (core/align/diagnose/case.cpp).
bool saysNothing(Quantity quantity, bool countedByRank)
{
    return quantity == Quantity::MicroSteps ||
           (countedByRank && (quantity == Quantity::Epoch || quantity == Quantity::SamplesSeen ||
                              quantity == Quantity::TokensSeen));
}

bool isData(Quantity quantity)
{
    const QuantityInfo* info = quantityInfo(quantity);
    return info && (info->link == CausalLink::Config || info->link == CausalLink::SampleIds ||
                    info->link == CausalLink::Content);
}

} // namespace

bool ComparisonRule::counts(const FirstDifference& difference) const
{
    if (otherRanks && saysNothing(difference.quantity, countedByRank))
        return false;
    switch (kind) {
    case Kind::Exact:
    case Kind::Envelope:
        return true;
    case Kind::FourDecimals:
        return isData(difference.quantity) || difference.step <= 1;
    case Kind::ByDesign:
        return isData(difference.quantity);
    }
    return true;
}

Result<ComparisonRule> ruleFor(const RunEntry& a, RunReader& readerA, const RunEntry& b,
                               const EnvelopeSource& source)
{
    ComparisonRule rule;
    if (ranksOf(a.config) == ranksOf(b.config))
        return rule;
    rule.otherRanks = true;
    rule.countedByRank = b.script();
    const Result<Changes> buffers = changesOf(readerA, Quantity::BufferFingerprint);
    if (!buffers)
        return buffers.error();
    const Result<Changes> random = changesOf(readerA, Quantity::RngCpu);
    if (!random)
        return random.error();
    rule.batchStatistics = buffers->changed > 0;
    // A loader draws once an epoch; random layers draw in every step.
    rule.randomLayers = random->seen >= 2 && random->changed == random->seen;
    rule.mixedPrecision = a.config.amp != "off" || b.config.amp != "off";
    // Under mixed precision the batches agree to few digits, so that only a measured envelope can judge.
    const bool byDesign = rule.batchStatistics || rule.randomLayers;
    rule.kind =
        byDesign || rule.mixedPrecision ? ComparisonRule::Kind::ByDesign : ComparisonRule::Kind::FourDecimals;
    if (byDesign || source.folder.empty())
        return rule;
    Result<std::optional<Envelope>> kept = keptEnvelope(source.folder, source.judged, a.config, b.config);
    if (!kept)
        return kept.error();
    rule.envelope = std::move(kept).value();
    if (rule.envelope)
        rule.kind = ComparisonRule::Kind::Envelope;
    return rule;
}

} // namespace lockstep
