#include "core/gates/data_finding_list.h"

#include <map>

namespace lockstep {

namespace {

constexpr const char* kCountOnce =
    "Cut the gathered results to the size of the dataset, or weigh every sample once";

} // namespace

void DataFindings::judgeEpoch(std::size_t e)
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

void DataFindings::padding(const EpochReview& epoch)
{
    const EpochCoverage& c = epoch.coverage;
    if (c.padding == 0)
        return;
    const RepeatedId& first = c.paddings.front();
    const std::int64_t step = repeatStep(epoch, first);
    if (plan().evaluation)
        add({"F9", false, c.epoch, step, first.rank,
             fmt::format("{} counted twice in the evaluation: the sampler pads {} to a multiple of {} ranks",
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

void DataFindings::omission(const EpochReview& epoch)
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
                     counted(c.omitted, "sample is used by no rank", "samples are used by no rank"), c.epoch,
                     grouped(facts().datasetSize), facts().world),
         plan().dropLast ? "Nothing, if the single run drops the same samples"
                         : "Set drop_last to the same value in the single run and in DDP",
         {{"omitted ids", idLine(ids)}}});
}

void DataFindings::ragged(const EpochReview& epoch)
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
             fmt::format("The last step of each epoch has {} of {} samples per rank: a mean over steps or "
                         "micro-batches is no longer a mean over samples",
                         grouped(last), grouped(full)),
             "Weigh by the number of samples wherever losses or metrics are averaged",
             {}});
    }
}

void DataFindings::judgeContents()
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
         fmt::format(
             "{} under the same ids: the ranks list the dataset in different orders",
             counted(table.conflicts(), "sample has different contents", "samples have different contents")),
         "Sort the file list before anything is shuffled, with the same rule on every machine", rows});
}

void DataFindings::judgeDraws()
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

void DataFindings::judgeBatch()
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

void DataFindings::judgeEvaluation()
{
    const auto& counts = facts().evaluation;
    if (!counts || !counts->repeats())
        return;
    std::vector<EvidenceRow> rows;
    for (std::size_t r = 0; r < counts->ofRank.size(); ++r)
        rows.push_back(
            {fmt::format("rank {}", r), fmt::format("counted {}, its share is {}", grouped(counts->ofRank[r]),
                                                    grouped(counts->shareOfRank[r]))});
    add({"F9", false, -1, counts->step, counts->rank,
         fmt::format("The evaluation counted {} samples of {}: what the sampler repeats to give all ranks "
                     "equally many is in the metric",
                     grouped(counts->counted), grouped(counts->setSize)),
         kCountOnce, rows});
}

std::string idLine(const std::vector<std::int64_t>& ids)
{
    std::string line;
    for (const std::int64_t id : ids)
        line += fmt::format("{}{}", line.empty() ? "" : " ", id);
    return line;
}

std::vector<DataFinding> findCauses(const DataReview& review)
{
    return DataFindings(review).all();
}

} // namespace lockstep
