// Whether the order is torch's, changes with the epoch and is the same one on all ranks.
#include "core/gates/data_check_list.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {

void DataChecks::setEpoch()
{
    const std::int64_t turns = std::int64_t(review_.epochs.size()) - 1;
    if (!plan().shuffle) {
        add("data.set_epoch", true, "not shuffled", "",
            "Nothing is shuffled: every epoch has the same order on purpose.");
        return;
    }
    const DataFinding* fault = finding({"A3"});
    if (turns < 1 && !fault) {
        cannotJudge("data.set_epoch", "One epoch cannot show whether the order changes.",
                    "Record or simulate at least two epochs");
        return;
    }
    std::int64_t changed = 0;
    for (std::size_t e = 1; e < review_.epochs.size(); ++e) {
        const EpochReview& epoch = review_.epochs[e];
        changed += (epoch.repeatsPreviousRanks == 0 && epoch.repeatsEpoch < 0) || epoch.python.equal();
    }
    // The same order can also follow from a fixed order (A2, A10): those are the cause then.
    const DataFinding* why = fault ? fault : finding({"A2", "A10", "A1"});
    if (changed != turns && !why && review_.epochs.front().coverage.distinct < kFewestDistinct) {
        cannotJudge("data.set_epoch",
                    fmt::format("The order repeats, but {} may do so by chance.",
                                counted(review_.epochs.front().coverage.distinct, "sample", "samples")),
                    "Judge a larger dataset");
        return;
    }
    const bool holds = !fault && (changed == turns || !why);
    GateCheck& check =
        add("data.set_epoch", holds, fmt::format("{} of {} changed", changed, turns),
            fmt::format("{} of {}", turns, turns), holds ? "The order changes from epoch to epoch." : "");
    if (!holds)
        explain(check, why);
}

void DataChecks::samePermutation()
{
    const int world = facts().world;
    int agreeing = world;
    const DataFinding* why = finding({"A4"});
    if (why) {
        agreeing = 1;
        const auto e = std::find_if(review_.epochs.begin(), review_.epochs.end(),
                                    [&](const EpochReview& r) { return r.coverage.epoch == why->epoch; });
        if (e != review_.epochs.end() && e->python.made) {
            agreeing = 0;
            for (std::size_t r = 0; r < e->python.equalPerRank.size(); ++r)
                agreeing += e->python.equalPerRank[r] * 2 >= e->coverage.counts[r];
            agreeing = std::min(agreeing, world - 1);
        }
    }
    GateCheck& check =
        add("data.same_permutation", !why, fmt::format("{} of {} ranks", agreeing, world),
            fmt::format("{} of {}", world, world), why ? "" : "All ranks deal from the same permutation.");
    explain(check, why);
}

void DataChecks::order()
{
    const std::int64_t rows =
        sum([](const EpochReview& e) { return e.python.made ? e.python.rows : e.coverage.rows; });
    if (facts().simulated && plan().faults.empty()) {
        add("data.order", true, fmt::format("{} of {}", grouped(rows), grouped(rows)), "all",
            "Simulated with the orders of torch 2.15's DistributedSampler.");
        return;
    }
    if (!review_.epochs.front().python.made) {
        if (plan().script) {
            cannotJudge(
                "data.order",
                "The sampler is the script's own. The recorded ids stand for themselves: coverage and "
                "overlap are judged here, equality with the single run by preflight.sampler.",
                "");
            return;
        }
        cannotJudge("data.order", "The sampler's seed is not known, so its order cannot be repeated.",
                    "Give the seed with --sampler-seed");
        return;
    }
    const std::int64_t equal = sum([](const EpochReview& e) { return e.python.equalRows; });
    GateCheck& check =
        add("data.order", equal == rows, fmt::format("{} of {}", grouped(equal), grouped(rows)), "all",
            equal == rows ? "The ids stand where torch's DistributedSampler puts them." : "");
    if (equal == rows)
        return;
    explain(check, finding({"A1", "A2", "A3", "A4", "F7", "A10", "A6"}));
    if (check.cause.empty()) {
        for (const EpochReview& epoch : review_.epochs)
            if (epoch.python.first.position >= 0) {
                check.step = epoch.python.first.step;
                check.rank = epoch.python.first.rank;
                check.sentence =
                    fmt::format("Epoch {} leaves torch's order at position {} of rank {}.",
                                epoch.coverage.epoch, grouped(epoch.python.first.position), check.rank);
                break;
            }
        check.fix = "Check seed, shuffle and drop_last of the sampler against the configuration";
    }
}

} // namespace lockstep
