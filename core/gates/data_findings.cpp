#include "core/gates/data_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lockstep {

namespace {

constexpr const char* kUseSampler = "Give every rank a DistributedSampler(dataset, num_replicas=world, "
                                    "rank=rank) and pass it to the DataLoader";

constexpr const char* kCountOnce =
    "Cut the gathered results to the size of the dataset, or weigh every sample once";

class Findings
{
public:
    explicit Findings(const DataReview& review) : review_(review) {}

    std::vector<DataFinding> all()
    {
        for (std::size_t e = 0; e < review_.epochs.size(); ++e)
            judgeEpoch(e);
        judgeContents();
        judgeDraws();
        judgeBatch();
        judgeEvaluation();
        std::stable_partition(found_.begin(), found_.end(), [](const DataFinding& f) { return !f.note; });
        return std::move(found_);
    }

private:
    const DataPlan& plan() const { return *review_.plan; }
    const DataFacts& facts() const { return *review_.facts; }
    std::int64_t original(std::uint32_t id) const { return facts().originalId(id); }

    bool known(const std::string& cause) const
    {
        return std::any_of(found_.begin(), found_.end(),
                           [&](const DataFinding& f) { return f.cause == cause && !f.note; });
    }
    void add(DataFinding finding)
    {
        const auto same = [&](const DataFinding& f) { return f.cause == finding.cause; };
        if (const auto it = std::find_if(found_.begin(), found_.end(), same); it == found_.end())
            found_.push_back(std::move(finding));
        else if (it->note && !finding.note)
            *it = std::move(finding);
    }

    std::int64_t repeatStep(const EpochReview& epoch, const RepeatedId& repeat) const
    {
        return epoch.stepAt(review_.axis, repeat.rank, repeat.position);
    }
    std::vector<EvidenceRow> repeatRows(const std::vector<RepeatedId>& repeats) const
    {
        std::vector<EvidenceRow> rows;
        for (const RepeatedId& r : repeats)
            rows.push_back({fmt::format("id {}", original(r.id)),
                            fmt::format("rank {} position {}, again rank {} position {}", r.firstRank,
                                        r.firstPosition, r.rank, r.position)});
        return rows;
    }

    void judgeEpoch(std::size_t e)
    {
        const EpochReview& epoch = review_.epochs[e];
        const EpochCoverage& c = epoch.coverage;
        // A rank order that is Python's own needs no explanation, however odd it looks (tiny datasets).
        const bool asPython = epoch.python.equal();
        if (!asPython) {
            if (c.ranksIdentical && c.overlapped > 0)
                noSplit(epoch);
            else if (epoch.resumePosition >= 0)
                orderLost(epoch);
            else if (!replaced(epoch) && !ownPermutation(epoch) && !sameOrder(e))
                otherOrder(epoch);
        }
        padding(epoch);
        omission(epoch);
        ragged(epoch);
    }

    void noSplit(const EpochReview& epoch)
    {
        const EpochCoverage& c = epoch.coverage;
        const std::int64_t steps = epoch.steps;
        const std::string numbers = fmt::format(
            "All {} ranks see the same {} samples in the same order, {} instead of about {} steps per epoch",
            facts().world, grouped(c.counts.front()), grouped(steps),
            grouped((steps + facts().world - 1) / facts().world));
        std::vector<EvidenceRow> rows = repeatRows(c.repeats);
        if (facts().hasLength)
            add({"A1", false, c.epoch, epoch.firstStep, 1, numbers + ": the dataset is not split",
                 kUseSampler, rows});
        else
            add({"A2", false, c.epoch, epoch.firstStep, 1,
                 numbers + ": the dataset is a stream without a length, samplers do not apply to it",
                 "Shard inside the dataset's __iter__: take every (world * workers)-th sample from rank * "
                 "workers + "
                 "worker on",
                 rows});
    }

    void orderLost(const EpochReview& epoch)
    {
        const std::int64_t step = epoch.stepAt(review_.axis, 0, epoch.resumePosition);
        add({"F7", false, epoch.coverage.epoch, step, -1,
             fmt::format(
                 "From position {} of epoch {} on every rank uses the order of epoch 0: the position was "
                 "restored after a resume, the permutation was not",
                 grouped(epoch.resumePosition), epoch.coverage.epoch),
             "Call sampler.set_epoch(epoch) with the restored epoch before the loader skips to the position",
             repeatRows(epoch.coverage.repeats)});
    }

    // A10: the ids are split cleanly, or drawn with replacement, but not by the declared sampler.
    bool replaced(const EpochReview& epoch)
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
    int deviatingRank(const EpochReview& epoch) const
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
    void addReplaced(const EpochReview& epoch, const std::string& what)
    {
        const OrderPlace& place = epoch.python.first;
        add({"A10", false, epoch.coverage.epoch, place.step >= 0 ? place.step : epoch.firstStep,
             deviatingRank(epoch),
             fmt::format("Another sampler than the declared one deals the ids of epoch {}: {}",
                         epoch.coverage.epoch, what),
             "Switch off the framework's own sampler injection, or declare the sampler it uses", headRows()});
    }

    // A4: several permutations are dealt at once.
    bool ownPermutation(const EpochReview& epoch)
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
    bool sameOrder(std::size_t e)
    {
        const EpochReview& epoch = review_.epochs[e];
        // Tiny epochs repeat by chance; with a known seed Python's own order has already said otherwise.
        const int before = e == 0 ? 0 : epoch.repeatsPreviousRanks;
        const bool early =
            before == 0 && epoch.repeatsEpoch >= 0; // not the epoch before, but one before that
        if (!plan().shuffle || (before == 0 && !early) ||
            (!epoch.python.made && epoch.coverage.distinct < kFewestDistinct))
            return false;
        const bool all = early || before == facts().world;
        add({"A3", false, epoch.coverage.epoch, epoch.firstStep, all ? -1 : 0,
             fmt::format("Epoch {} uses the order of epoch {} on {} of {} ranks: set_epoch is missing",
                         epoch.coverage.epoch,
                         early ? epoch.repeatsEpoch : review_.epochs[e - 1].coverage.epoch,
                         early ? facts().world : before, facts().world),
             "Call sampler.set_epoch(epoch) before each epoch", headRows()});
        return true;
    }

    void otherOrder(const EpochReview& epoch)
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

    void padding(const EpochReview& epoch)
    {
        const EpochCoverage& c = epoch.coverage;
        if (c.padding == 0)
            return;
        const RepeatedId& first = c.paddings.front();
        const std::int64_t step = repeatStep(epoch, first);
        if (plan().evaluation)
            add({"F9", false, c.epoch, step, first.rank,
                 fmt::format(
                     "{} counted twice in the evaluation: the sampler pads {} to a multiple of {} ranks",
                     counted(c.padding, "sample is", "samples are"), grouped(facts().datasetSize),
                     facts().world),
                 kCountOnce, repeatRows(c.paddings)});
        else
            add({"A5", true, c.epoch, step, first.rank,
                 fmt::format("{} repeated in the last step of each epoch so that all ranks get equally many",
                             counted(c.padding, "sample is", "samples are")),
                 "Compare with a single run over the same padded batches, or set drop_last on both sides",
                 repeatRows(c.paddings)});
    }

    void omission(const EpochReview& epoch)
    {
        const EpochCoverage& c = epoch.coverage;
        const std::int64_t cut = facts().datasetSize % facts().world;
        const std::int64_t whole = facts().datasetSize / facts().world;
        const bool dropped =
            c.omitted > 0 && c.omitted == cut && c.partition() &&
            std::all_of(c.counts.begin(), c.counts.end(), [whole](std::int64_t n) { return n == whole; });
        if (!dropped)
            return;
        std::vector<std::int64_t> ids;
        for (const std::uint32_t id : c.omissions)
            ids.push_back(original(id));
        add({"A6",
             plan().dropLast,
             c.epoch,
             epoch.firstStep + std::max<std::int64_t>(epoch.steps - 1, 0),
             -1,
             fmt::format("{} in epoch {}: drop_last cuts {} to a multiple of {} ranks",
                         counted(c.omitted, "sample is used by no rank", "samples are used by no rank"),
                         c.epoch, grouped(facts().datasetSize), facts().world),
             plan().dropLast ? "Nothing, if the single run drops the same samples"
                             : "Set drop_last to the same value in the single run and in DDP",
             {{"omitted ids", idLine(ids)}}});
    }

    void ragged(const EpochReview& epoch)
    {
        const std::int64_t full = review_.axis.perStep();
        if (epoch.unequalStep.rank >= 0) {
            add({"B4",
                 false,
                 epoch.coverage.epoch,
                 epoch.unequalStep.step,
                 epoch.unequalStep.rank,
                 "The ranks use different numbers of samples in one step: the mean of their means is not the "
                 "mean of "
                 "all samples",
                 "Scale each rank's loss by world * n_rank / n, or deal equal numbers",
                 {}});
        } else if (!epoch.lastSamples.empty() && epoch.lastSamples.front() % full != 0) {
            const std::int64_t last = epoch.lastSamples.front();
            add({"B4",
                 true,
                 epoch.coverage.epoch,
                 epoch.firstStep + epoch.steps - 1,
                 -1,
                 fmt::format(
                     "The last step of each epoch has {} of {} samples per rank: a mean over steps or "
                     "micro-batches is no longer a mean over samples",
                     grouped(last), grouped(full)),
                 "Weigh by the number of samples wherever losses or metrics are averaged",
                 {}});
        }
    }

    void judgeContents()
    {
        const ContentTable& table = *review_.contents;
        if (table.conflicts() == 0 || table.augmented())
            return;
        const ContentConflict& first = table.examples().front();
        const auto e = std::find_if(review_.epochs.begin(), review_.epochs.end(),
                                    [&](const EpochReview& r) { return r.coverage.epoch == first.epoch; });
        std::vector<EvidenceRow> rows;
        for (const ContentConflict& c : table.examples())
            rows.push_back({fmt::format("id {}", original(c.id)),
                            c.otherId ? fmt::format("rank {} has the content that rank {} has under id {}",
                                                    c.rank, c.firstRank, original(c.firstId))
                                      : fmt::format("rank {} content {:016x}, rank {} content {:016x}",
                                                    c.firstRank, c.firstContent, c.rank, c.content)});
        add({"A7", false, first.epoch, e->stepAt(review_.axis, first.rank, first.position),
             first.rank != 0 ? first.rank : first.firstRank,
             fmt::format("{} under the same ids: the ranks list the dataset in different orders",
                         counted(table.conflicts(), "sample has different contents",
                                 "samples have different contents")),
             "Sort the file list before anything is shuffled, with the same rule on every machine", rows});
    }

    void judgeDraws()
    {
        std::map<std::pair<bool, std::uint64_t>, const StreamDraw*> seen; // worker stream?, value
        std::vector<StreamDraw> draws = facts().draws;
        std::stable_partition(draws.begin(), draws.end(), [](const StreamDraw& d) { return d.worker < 0; });
        for (const StreamDraw& draw : draws) {
            const bool worker = draw.worker >= 0;
            const auto [it, isNew] = seen.try_emplace({worker, draw.value}, &draw);
            if (isNew)
                continue;
            const StreamDraw& other = *it->second;
            // Workers are seeded from the rank's generator: if that repeats, they have to.
            if (worker && known("E6"))
                continue;
            if (worker)
                add({"A8",
                     false,
                     0,
                     review_.epochs.empty() ? 1 : review_.epochs.front().firstStep,
                     draw.rank,
                     fmt::format("Loader worker {} of rank {} draws the same numbers as worker {} of rank {}",
                                 draw.worker, draw.rank, other.worker, other.rank),
                     "Seed every rank's default generator with seed + rank before the loader is made, or "
                     "derive the "
                     "worker seed from rank and worker",
                     {{"first draw", fmt::format("{:016x} on both", draw.value)}}});
            else if (!facts().randomUsed)
                add({"E6",
                     true,
                     0,
                     review_.epochs.empty() ? 1 : review_.epochs.front().firstStep,
                     draw.rank,
                     fmt::format("The generators of ranks {} and {} are equal, and no step draws from them",
                                 other.rank, draw.rank),
                     "Seed again with seed + rank before dropout or noise is added",
                     {}});
            else
                add({"E6",
                     false,
                     0,
                     review_.epochs.empty() ? 1 : review_.epochs.front().firstStep,
                     draw.rank,
                     fmt::format("The generators of ranks {} and {} draw the same numbers: noise and dropout "
                                 "repeat on "
                                 "every rank",
                                 other.rank, draw.rank),
                     "Seed again with seed + rank after the model is built",
                     {{"first draw", fmt::format("{:016x} on both", draw.value)}}});
        }
    }

    void judgeBatch()
    {
        const std::int64_t global = review_.globalBatch();
        if (plan().referenceBatch <= 0 || global == plan().referenceBatch)
            return;
        const std::int64_t parts = std::int64_t(facts().world) * plan().accumulate;
        add({"A9",
             false,
             0,
             1,
             -1,
             fmt::format("An optimizer step uses {} samples on {} ranks, the single run {}", grouped(global),
                         facts().world, grouped(plan().referenceBatch)),
             plan().referenceBatch % parts == 0
                 ? fmt::format("Set the batch per rank to {}", plan().referenceBatch / parts)
                 : "Choose batch, world and accumulation so that their product is the single run's batch",
             {{"samples per step",
               fmt::format("ddp {}, single {}", grouped(global), grouped(plan().referenceBatch))}}});
    }

    void judgeEvaluation()
    {
        const auto& counts = facts().evaluation;
        if (!counts || !counts->repeats())
            return;
        std::vector<EvidenceRow> rows;
        for (std::size_t r = 0; r < counts->ofRank.size(); ++r)
            rows.push_back({fmt::format("rank {}", r),
                            fmt::format("counted {}, its share is {}", grouped(counts->ofRank[r]),
                                        grouped(counts->shareOfRank[r]))});
        add({"F9", false, -1, counts->step, counts->rank,
             fmt::format(
                 "The evaluation counted {} samples of {}: what the sampler repeats to give all ranks "
                 "equally many is in the metric",
                 grouped(counts->counted), grouped(counts->setSize)),
             kCountOnce, rows});
    }

    std::vector<EvidenceRow> headRows() const
    {
        std::vector<EvidenceRow> rows;
        for (std::size_t e = 0; e < std::min<std::size_t>(review_.heads.size(), 3); ++e)
            rows.push_back(
                {fmt::format("epoch {}", review_.epochs[e].coverage.epoch), idLine(review_.heads[e])});
        if (!review_.expectedHead.empty() && review_.epochs.size() > 1)
            rows.push_back({fmt::format("epoch {} should be", review_.epochs[1].coverage.epoch),
                            idLine(review_.expectedHead)});
        return rows;
    }

    const DataReview& review_;
    std::vector<DataFinding> found_;
};

} // namespace

std::string idLine(const std::vector<std::int64_t>& ids)
{
    std::string line;
    for (const std::int64_t id : ids)
        line += fmt::format("{}{}", line.empty() ? "" : " ", id);
    return line;
}

std::vector<DataFinding> findCauses(const DataReview& review)
{
    return Findings(review).all();
}

} // namespace lockstep
