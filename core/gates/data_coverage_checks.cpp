// Whether every sample is used, once, and what is padded.
#include "core/gates/data_check_list.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {

void DataChecks::overlap()
{
    const std::int64_t ids = sum([](const EpochReview& e) { return e.coverage.overlapped; });
    const std::int64_t again = sum([](const EpochReview& e) { return e.coverage.repeatedInRank; });
    const bool noted = plan().evaluation && finding({"F9"});
    GateCheck& check =
        add("data.overlap", ids == 0 && again == 0 && !noted, counted(ids + again, "sample", "samples"), "0",
            fmt::format("{} of {} samples used twice inside {}.",
                        grouped(ids + again +
                                (noted ? sum([](const EpochReview& e) { return e.coverage.padding; }) : 0)),
                        grouped(sum([](const EpochReview& e) { return e.coverage.rows; })),
                        counted(std::int64_t(review_.epochs.size()), "epoch", "epochs")));
    if (check.verdict == "pass")
        return;
    explain(check, finding({"A1", "A2", "F7", "A4", "A10", "F9"}));
    if (check.cause.empty())
        place(check);
}

void DataChecks::place(GateCheck& check)
{
    std::vector<EvidenceRow> rows;
    for (const EpochReview& epoch : review_.epochs)
        for (const RepeatedId& r : epoch.coverage.repeats) {
            if (check.step < 0) {
                check.step = epoch.stepAt(review_.axis, r.rank, r.position);
                check.rank = r.rank;
            }
            rows.push_back({fmt::format("epoch {}, id {}", epoch.coverage.epoch, facts().originalId(r.id)),
                            fmt::format("rank {} position {}, again rank {} position {}", r.firstRank,
                                        r.firstPosition, r.rank, r.position)});
        }
    check.fix = "Look at the sampler's code for the ids below";
    check.evidenceJson = evidenceJson(rows);
}

void DataChecks::omission()
{
    const std::int64_t omitted = sum([](const EpochReview& e) { return e.coverage.omitted; });
    const std::int64_t epochs = std::int64_t(review_.epochs.size());
    const std::int64_t cut = plan().dropLast ? facts().datasetSize % facts().world : 0;
    const bool holds = std::all_of(review_.epochs.begin(), review_.epochs.end(), [cut](const EpochReview& e) {
        return e.coverage.omitted == cut && e.coverage.outOfRange == 0;
    });
    const std::int64_t worst = review_.epochs.empty()
                                   ? 0
                                   : std::max_element(review_.epochs.begin(), review_.epochs.end(),
                                                      [](const auto& a, const auto& b) {
                                                          return a.coverage.omitted < b.coverage.omitted;
                                                      })
                                         ->coverage.omitted;
    GateCheck& check =
        add("data.omission", holds, fmt::format("{} of {}", grouped(worst), grouped(facts().datasetSize)),
            grouped(cut),
            plan().dropLast && holds && cut > 0
                ? fmt::format("drop_last leaves out {} mod {} = {} in each epoch.",
                              grouped(facts().datasetSize), facts().world, cut)
                : fmt::format("{} in {}.", counted(omitted, "sample is never used", "samples are never used"),
                              counted(epochs, "epoch", "epochs")));
    if (holds)
        explain(check, finding({"A6"}, true));
    else
        explain(check, finding({"A6", "A4", "F7", "A10"}));
    if (!holds && check.cause.empty()) {
        std::vector<EvidenceRow> rows;
        for (const EpochReview& epoch : review_.epochs) {
            std::vector<std::int64_t> ids;
            for (const std::uint32_t id : epoch.coverage.omissions)
                ids.push_back(facts().originalId(id));
            rows.push_back({fmt::format("epoch {}, not used", epoch.coverage.epoch), idLine(ids)});
        }
        check.fix = "Look at the sampler's code for the ids below";
        check.evidenceJson = evidenceJson(rows);
    }
}

void DataChecks::padding()
{
    // Where the data is not split at all there is nothing to pad; the overlap check speaks.
    if (finding({"A1", "A2"}))
        return;
    const std::int64_t expected = expectedPadding(facts().datasetSize, facts().world, plan().dropLast);
    const bool covered = facts().datasetSize > 0;
    std::int64_t found = 0;
    bool holds = true;
    for (const EpochReview& e : review_.epochs) {
        found = e.coverage.padding;
        holds =
            holds && (found == expected || !covered || e.coverage.overlapped > 0 || finding({"A6", "A10"}));
        if (!holds)
            break;
    }
    GateCheck& check =
        add("data.padding", holds, grouped(found), grouped(expected),
            plan().dropLast
                ? std::string("drop_last is on: nothing is padded.")
                : fmt::format("{} x ceil({} / {}) - {} = {}, all repeated from the head of the order.",
                              facts().world, grouped(facts().datasetSize), facts().world,
                              grouped(facts().datasetSize), expected));
    explain(check, finding({"A5"}, true));
}

} // namespace lockstep
