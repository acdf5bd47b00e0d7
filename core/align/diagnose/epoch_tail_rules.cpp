// Family A: what becomes of the end of an epoch that does not divide. Decided by ids, exactly.
#include "core/align/diagnose/epoch_ids.h"
#include "core/align/diagnose/rules.h"

#include <algorithm>
#include <cmath>

namespace lockstep::align {

namespace {

// The epoch in which the runs part, of both.
struct Epochs {
    EpochIds own, reference;
    std::int64_t total = 0, wanted = 0; // samples
};

// A run whose epoch is shorter is in the next one already.
std::optional<Epochs> epochsAt(const Case& c, std::int64_t step)
{
    const EpochIds own = epochAt(c.sus(), step), reference = epochAt(c.ref(), step);
    if (own.epoch < 0 || reference.epoch < 0)
        return {};
    const std::int64_t epoch = std::min(own.epoch, reference.epoch);
    Epochs found{epoch == own.epoch ? own : epochNumber(c.sus(), epoch),
                 epoch == reference.epoch ? reference : epochNumber(c.ref(), epoch)};
    if (found.own.epoch < 0 || found.reference.epoch < 0 || found.own.sameOnRanks())
        return {};
    found.total = std::int64_t(found.own.count());
    found.wanted = std::int64_t(found.reference.count());
    // Only at the end; up to there the ids are the reference's.
    const auto ends = [step](const EpochIds& ids) {
        return step == ids.lastStep || step == ids.lastStep + 1;
    };
    return ends(found.own) || ends(found.reference) ? std::optional(found) : std::nullopt;
}

Suspicion ofIds(const Case& c, const char* cause, std::int64_t step, std::string fact)
{
    Suspicion s = suspect(cause, kSignature, step, "sample ids", std::move(fact), Quantity::SampleIds);
    s.evidence.front().rank = c.sus().ranks().front();
    return s;
}

void tailRepeated(const Case& c, Suspicions& out)
{
    const std::int64_t step = dataStart(c);
    const std::optional<Epochs> epochs = step < 1 ? std::nullopt : epochsAt(c, step);
    if (!epochs || epochs->total <= epochs->wanted)
        return;
    const std::int64_t more = epochs->total - epochs->wanted;
    const std::int64_t repeats = epochs->total - std::int64_t(epochs->own.all.size());
    // A sampler repeats fewer ids than there are ranks; a script's own may fill up whole batches, after all of the
    // reference's ids.
    const bool byRank = more <= c.world() && epochs->own.shared() < std::size_t(2 * c.world());
    const bool byBatch = epochs->own.all == epochs->reference.all && repeats == more &&
                         step >= epochs->reference.lastStep && repeats < epochs->wanted;
    if (repeats <= 0 || !(byRank || byBatch))
        return;
    Suspicion s =
        ofIds(c, "A5", step,
              fmt::format("{} ids of the epoch occur twice, the epoch has {} samples instead of {}.", repeats,
                          epochs->total, epochs->wanted));
    s.excluded.push_back({"A4",
                          byRank ? fmt::format("only {} ids are repeated, all in the last step", repeats)
                                 : "the ids are repeated after all of the reference's were used",
                          Quantity::SampleIds,
                          step,
                          -1,
                          {}});
    out.push_back(std::move(s));
}

void tailMissing(const Case& c, Suspicions& out)
{
    const std::int64_t step = dataStart(c);
    const std::optional<Epochs> epochs = step < 1 ? std::nullopt : epochsAt(c, step);
    if (!epochs || epochs->total >= epochs->wanted)
        return;
    double batch = 0; // of the reference's first step in the epoch
    for (const int rank : c.ref().ranks())
        batch += c.ref().total(rank, Quantity::Samples, epochs->reference.firstStep).value_or(0);
    const std::int64_t missing = epochs->wanted - epochs->total;
    const bool few = missing <= c.world() && epochs->own.shared() < std::size_t(2 * c.world());
    // The last batch is left out whole where it is not full.
    const bool lastBatch = double(missing) < batch && step == epochs->reference.lastStep &&
                           step == epochs->own.lastStep + 1 &&
                           std::includes(epochs->reference.all.begin(), epochs->reference.all.end(),
                                         epochs->own.all.begin(), epochs->own.all.end());
    if (!few && !lastBatch)
        return;
    Suspicion s = ofIds(c, "A6", step,
                        fmt::format("The epoch has {} samples instead of {}: {} of its tail are missing.",
                                    epochs->total, epochs->wanted, missing));
    s.excluded.push_back(
        {"A10", "all other ids are where the reference has them", Quantity::SampleIds, step, -1, {}});
    out.push_back(std::move(s));
}

constexpr Rule kRules[] = {tailRepeated, tailMissing};

} // namespace

std::span<const Rule> epochTailRules()
{
    return kRules;
}

} // namespace lockstep::align
