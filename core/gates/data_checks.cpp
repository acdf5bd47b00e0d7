#include "core/gates/data_checks.h"

#include "core/gates/data_check_list.h"
#include "core/gates/every_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace lockstep {

namespace {

constexpr std::array<std::string_view, 5> kMayStayUnjudged = {
    "data.content", "data.rank_streams", "data.worker_seeds", "data.order", "data.global_batch"};

} // namespace

void DataChecks::cannotJudge(const char* id, const std::string& why, const std::string& fix)
{
    addUnjudged(checks_, id, why).fix = fix;
}

void DataChecks::explain(GateCheck& check, const DataFinding* finding)
{
    if (!finding)
        return;
    check.cause = finding->cause;
    check.step = finding->step;
    check.rank = finding->rank;
    if (check.verdict == "fail" || finding->note) {
        check.sentence += (check.sentence.empty() ? "" : " ") + finding->sentence + ".";
        check.fix = finding->fix;
    }
    check.evidenceJson = evidenceJson(finding->evidence);
}

void DataChecks::content()
{
    const ContentTable& table = *review_.contents;
    if (!table.judged() || table.augmented()) {
        cannotJudge("data.content",
                    table.augmented()
                        ? "The contents change from epoch to epoch (augmentation), so equal ids cannot be "
                          "compared by content."
                        : "What the samples contain is not known from ids alone.",
                    "Judge a recorded run, or run the real loader with --with-loader");
        return;
    }
    GateCheck& check =
        add("data.content", table.conflicts() == 0,
            fmt::format("{} of {}", grouped(table.compared() - table.conflicts()), grouped(table.compared())),
            "all", table.conflicts() == 0 ? "The same id brings the same content on every rank." : "");
    if (table.conflicts() > 0)
        explain(check, finding({"A7"}));
}

void DataChecks::distinctDraws(const char* id, bool workers, const char* cause, const char* holds)
{
    std::vector<std::uint64_t> values;
    for (const StreamDraw& draw : facts().draws)
        if ((draw.worker >= 0) == workers)
            values.push_back(draw.value);
    if (values.empty()) {
        cannotJudge(id,
                    workers ? "No loader workers are used, or their first draws are not known."
                            : "The first draws of the ranks' generators are not known.",
                    "Judge a recorded run, or add the columns worker and draw to the id list");
        return;
    }
    std::sort(values.begin(), values.end());
    const auto total = std::int64_t(values.size());
    const auto distinct = std::int64_t(std::unique(values.begin(), values.end()) - values.begin());
    const bool note = !workers && !facts().randomUsed;
    GateCheck& check = add(
        id, distinct == total || note, fmt::format("{} of {} distinct", grouped(distinct), grouped(total)),
        fmt::format("{} of {}", grouped(total), grouped(total)), distinct == total ? holds : "");
    if (distinct != total)
        explain(check, finding({cause, "E6"}, note));
}

void DataChecks::streams()
{
    distinctDraws("data.rank_streams", false, "E6", "Every rank's generator draws its own numbers.");
}

void DataChecks::workers()
{
    distinctDraws("data.worker_seeds", true, "A8",
                  "Every loader worker of every rank draws its own numbers.");
}

void DataChecks::steps()
{
    const EpochReview& first = review_.epochs.front();
    const std::int64_t perRank = plan().dropLast ? facts().datasetSize / facts().world
                                                 : (facts().datasetSize + facts().world - 1) / facts().world;
    const std::int64_t perStep = review_.axis.perStep();
    const std::int64_t expected = (perRank + perStep - 1) / perStep;
    bool equal = true, asExpected = true;
    for (const EpochReview& epoch : review_.epochs)
        for (const std::int64_t s : epoch.rankSteps) {
            equal = equal && s == epoch.rankSteps.front();
            asExpected = asExpected && s == expected;
        }
    // The numbers of samples decide where the step of each sample is not recorded.
    const bool counts = std::all_of(review_.epochs.begin(), review_.epochs.end(), [](const EpochReview& e) {
        return std::all_of(e.coverage.counts.begin(), e.coverage.counts.end(),
                           [&](std::int64_t n) { return n == e.coverage.counts.front(); });
    });
    const DataFinding* why = finding({"A1", "A2", "A6", "B4"});
    const bool stepsKnown = !first.stepped.ranks.empty();
    const bool holds = equal && counts && (asExpected || (stepsKnown && !finding({"A1", "A2"})));
    std::string value;
    for (std::size_t r = 0; r < std::min<std::size_t>(first.rankSteps.size(), 4); ++r)
        value += (r == 0 ? "" : ", ") + grouped(first.rankSteps[r]);
    if (first.rankSteps.size() > 4)
        value += ", ...";
    GateCheck& check = add("data.steps", holds, value, grouped(expected),
                           holds ? "Every rank makes the same number of steps per epoch." : "");
    if (holds)
        return;
    explain(check, why);
    if (check.cause.empty()) {
        check.sentence = fmt::format("The ranks make {} steps in the first epoch, expected are {} on each.",
                                     value, grouped(expected));
        check.fix = "Deal the same number of samples to every rank";
    }
}

void DataChecks::ragged()
{
    const EpochReview& first = review_.epochs.front();
    const DataFinding* fault = finding({"B4"});
    const std::int64_t full = review_.axis.perStep();
    const std::int64_t last = first.lastSamples.empty() ? 0 : first.lastSamples.front();
    GateCheck& check = add("data.ragged", !fault, fmt::format("{} of {}", grouped(last), grouped(full)),
                           "equal on all ranks",
                           fault          ? ""
                           : last == full ? "Every step has the same number of samples."
                                          : "");
    explain(check, fault ? fault : finding({"B4"}, true));
}

void DataChecks::globalBatch()
{
    const std::int64_t global = review_.globalBatch();
    if (plan().referenceBatch <= 0) {
        cannotJudge("data.global_batch", "There is no single-process configuration to compare with.",
                    "Run the single-process baseline once");
        return;
    }
    const DataFinding* why = finding({"A9"});
    GateCheck& check = add("data.global_batch", !why, grouped(global), grouped(plan().referenceBatch),
                           why ? "" : "An optimizer step uses as many samples as in the single run.");
    explain(check, why);
}

void DataChecks::evaluation()
{
    const auto& counts = facts().evaluation;
    if (!counts)
        return;
    GateCheck& check =
        add("data.evaluation", !counts->repeats(), grouped(counts->counted), grouped(counts->setSize),
            counts->repeats() ? "" : "Every sample of the evaluation set is counted once.");
    explain(check, finding({"F9"}));
}

void DataChecks::everyWorld()
{
    if (!facts().simulated || !plan().faults.empty())
        return;
    const WorldSweep sweep = coverEveryWorld(plan());
    if (sweep.worlds == 0)
        return; // too large to deal again; the sizes that matter are judged one by one
    GateCheck& check =
        add("data.every_world", sweep.failing == 0,
            fmt::format("{} overlap, {} omitted", grouped(sweep.overlap), grouped(sweep.omitted)), "0",
            fmt::format("{} sizes up to 1,024 were dealt.", grouped(sweep.worlds)));
    if (sweep.failing > 0)
        check.fix = fmt::format("Report this: world {} does not cover the dataset", sweep.failing);
}

std::vector<GateCheck> dataChecks(const DataReview& review, const std::vector<DataFinding>& findings)
{
    return DataChecks(review, findings).all();
}

std::string gateVerdict(const std::vector<GateCheck>& checks)
{
    return verdictOf(checks, [](const GateCheck& check) {
        return std::find(kMayStayUnjudged.begin(), kMayStayUnjudged.end(), check.id) !=
               kMayStayUnjudged.end();
    });
}

} // namespace lockstep
