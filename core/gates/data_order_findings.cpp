// The causes that show in the order of the ids: no split, one permutation per rank, another sampler, an order that repeats.
#include "core/gates/data_finding_list.h"

namespace lockstep {

namespace {

constexpr const char* kUseSampler = "Give every rank a DistributedSampler(dataset, num_replicas=world, "
                                    "rank=rank) and pass it to the DataLoader";

} // namespace

void DataFindings::noSplit(const EpochReview& epoch)
{
    const EpochCoverage& c = epoch.coverage;
    const std::int64_t steps = epoch.steps;
    const std::string numbers = fmt::format(
        "All {} ranks see the same {} samples in the same order, {} instead of about {} steps per epoch",
        facts().world, grouped(c.counts.front()), grouped(steps),
        grouped((steps + facts().world - 1) / facts().world));
    std::vector<EvidenceRow> rows = repeatRows(c.repeats);
    if (facts().hasLength)
        add({"A1", false, c.epoch, epoch.firstStep, 1, numbers + ": the dataset is not split", kUseSampler,
             rows});
    else
        add({"A2", false, c.epoch, epoch.firstStep, 1,
             numbers + ": the dataset is a stream without a length, samplers do not apply to it",
             "Shard inside the dataset's __iter__: take every (world * workers)-th sample from rank * "
             "workers + "
             "worker on",
             rows});
}

void DataFindings::orderLost(const EpochReview& epoch)
{
    const std::int64_t step = epoch.stepAt(review_.axis, 0, epoch.resumePosition);
    add({"F7", false, epoch.coverage.epoch, step, -1,
         fmt::format("From position {} of epoch {} on every rank uses the order of epoch 0: the position was "
                     "restored after a resume, the permutation was not",
                     grouped(epoch.resumePosition), epoch.coverage.epoch),
         "Call sampler.set_epoch(epoch) with the restored epoch before the loader skips to the position",
         repeatRows(epoch.coverage.repeats)});
}

// A10: the ids are split cleanly, or drawn with replacement, but not by the declared sampler.
bool DataFindings::replaced(const EpochReview& epoch)
{
    const EpochCoverage& c = epoch.coverage;
    std::string what;
    if (plan().shuffle && epoch.sequential && c.partition())
        what = "ids ascend although the sampler is declared to shuffle";
    else if (c.repeatedInRank > 0 && c.repeatedInRank * 20 > c.rows)
        what = fmt::format("{} ids come again on their own rank: drawn with replacement",
                           grouped(c.repeatedInRank));
    else
        return false;
    addReplaced(epoch, what);
    return true;
}

// The only rank that leaves Python's order; -1: several, or no order to compare with.
int DataFindings::deviatingRank(const EpochReview& epoch) const
{
    int found = -1;
    for (std::size_t r = 0; r < epoch.python.equalPerRank.size(); ++r) {
        if (epoch.python.equalPerRank[r] == epoch.coverage.counts[r])
            continue;
        if (found >= 0)
            return -1;
        found = int(r);
    }
    return found;
}

void DataFindings::addReplaced(const EpochReview& epoch, const std::string& what)
{
    const OrderPlace& place = epoch.python.first;
    add({"A10", false, epoch.coverage.epoch, place.step >= 0 ? place.step : epoch.firstStep,
         deviatingRank(epoch),
         fmt::format("Another sampler than the declared one deals the ids of epoch {}: {}",
                     epoch.coverage.epoch, what),
         "Switch off the framework's own sampler injection, or declare the sampler it uses", headRows()});
}

// A4: several permutations are dealt at once.
bool DataFindings::ownPermutation(const EpochReview& epoch)
{
    const EpochCoverage& c = epoch.coverage;
    if (c.overlapped == 0)
        return false;
    int rank = c.repeats.empty() ? -1 : c.repeats.front().rank;
    std::int64_t position = c.repeats.empty() ? 0 : c.repeats.front().position;
    if (epoch.python.made) {
        // Only ranks that leave Python's order for good; single wrong ids are no permutation of their
        // own.
        rank = -1;
        for (std::size_t r = 0; r < c.counts.size() && rank < 0; ++r)
            if (epoch.python.equalPerRank[r] * 2 < c.counts[r])
                rank = int(r);
        position = 0;
    } else if (c.overlapped * 50 < c.rows) {
        rank = -1;
    }
    if (rank < 0)
        return false;
    add({"A4", false, c.epoch, epoch.stepAt(review_.axis, rank, position), rank,
         fmt::format("The ranks deal from different permutations: {} are used by more than one rank and "
                     "{} by none "
                     "in epoch {}",
                     counted(c.overlapped, "sample", "samples"), grouped(c.omitted), c.epoch),
         "Use one sampler seed and the same epoch number on all ranks; add the rank to other generators "
         "only",
         repeatRows(c.repeats)});
    return true;
}

// A3: an epoch repeats the order of the epoch before.
bool DataFindings::sameOrder(std::size_t e)
{
    const EpochReview& epoch = review_.epochs[e];
    // Tiny epochs repeat by chance; with a known seed Python's own order has already said otherwise.
    const int before = e == 0 ? 0 : epoch.repeatsPreviousRanks;
    const bool early = before == 0 && epoch.repeatsEpoch >= 0; // not the epoch before, but one before that
    if (!plan().shuffle || (before == 0 && !early) ||
        (!epoch.python.made && epoch.coverage.distinct < kFewestDistinct))
        return false;
    const bool all = early || before == facts().world;
    add({"A3", false, epoch.coverage.epoch, epoch.firstStep, all ? -1 : 0,
         fmt::format("Epoch {} uses the order of epoch {} on {} of {} ranks: set_epoch is missing",
                     epoch.coverage.epoch, early ? epoch.repeatsEpoch : review_.epochs[e - 1].coverage.epoch,
                     early ? facts().world : before, facts().world),
         "Call sampler.set_epoch(epoch) before each epoch", headRows()});
    return true;
}

void DataFindings::otherOrder(const EpochReview& epoch)
{
    const EpochCoverage& c = epoch.coverage;
    if (!epoch.python.made || !c.partition() || epoch.python.equalRows * 2 > epoch.python.rows ||
        epoch.python.rows < 8)
        return;
    // Cut or padded differently is a matter of drop_last, not of another order.
    std::int64_t planned = 0;
    for (const std::int64_t n : epoch.python.equalPerRank)
        planned += n;
    if (known("A3") && planned == 0)
        return;
    addReplaced(epoch, fmt::format("{} of {} ids stand where torch's DistributedSampler puts them",
                                   grouped(epoch.python.equalRows), grouped(epoch.python.rows)));
}

std::vector<EvidenceRow> DataFindings::headRows() const
{
    std::vector<EvidenceRow> rows;
    for (std::size_t e = 0; e < std::min<std::size_t>(review_.heads.size(), 3); ++e)
        rows.push_back({fmt::format("epoch {}", review_.epochs[e].coverage.epoch), idLine(review_.heads[e])});
    if (!review_.expectedHead.empty() && review_.epochs.size() > 1)
        rows.push_back({fmt::format("epoch {} should be", review_.epochs[1].coverage.epoch),
                        idLine(review_.expectedHead)});
    return rows;
}

} // namespace lockstep
