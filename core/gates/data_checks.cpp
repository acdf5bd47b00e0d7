#include "core/gates/data_checks.h"

#include "core/gates/every_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

namespace lockstep {

namespace {

constexpr std::array<std::string_view, 5> kMayStayUnjudged = {
    "data.content", "data.rank_streams", "data.worker_seeds", "data.order", "data.global_batch"};

class Checks
{
public:
    Checks(const DataReview& review, const std::vector<DataFinding>& findings)
        : review_(review), findings_(findings)
    {
    }

    std::vector<GateCheck> all()
    {
        overlap();
        omission();
        padding();
        setEpoch();
        samePermutation();
        content();
        streams();
        workers();
        steps();
        order();
        ragged();
        globalBatch();
        evaluation();
        everyWorld();
        return std::move(checks_);
    }

private:
    const DataPlan& plan() const { return *review_.plan; }
    const DataFacts& facts() const { return *review_.facts; }

    template<typename Field>
    std::int64_t sum(Field field) const
    {
        std::int64_t total = 0;
        for (const EpochReview& epoch : review_.epochs)
            total += field(epoch);
        return total;
    }

    // The first finding among `causes`; faults stand before notes.
    const DataFinding* finding(std::initializer_list<const char*> causes, bool notes = false) const
    {
        for (const DataFinding& f : findings_)
            if (f.note == notes &&
                std::any_of(causes.begin(), causes.end(), [&](const char* c) { return f.cause == c; }))
                return &f;
        return nullptr;
    }

    GateCheck& add(const char* id, bool holds, std::string value, std::string limit, std::string sentence)
    {
        GateCheck check;
        check.id = id;
        check.verdict = holds ? "pass" : "fail";
        check.value = std::move(value);
        check.limit = std::move(limit);
        check.sentence = std::move(sentence);
        checks_.push_back(std::move(check));
        return checks_.back();
    }
    void cannotJudge(const char* id, const std::string& why, const std::string& fix)
    {
        GateCheck& check = add(id, false, "not judged", "", why);
        check.verdict = "cannot_judge";
        check.fix = fix;
    }
    // Cause, place, fix and evidence of a finding, and its sentence behind the check's own numbers.
    void explain(GateCheck& check, const DataFinding* finding)
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

    void overlap()
    {
        const std::int64_t ids = sum([](const EpochReview& e) { return e.coverage.overlapped; });
        const std::int64_t again = sum([](const EpochReview& e) { return e.coverage.repeatedInRank; });
        const bool noted = plan().evaluation && finding({"F9"});
        GateCheck& check = add(
            "data.overlap", ids == 0 && again == 0 && !noted, counted(ids + again, "sample", "samples"), "0",
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

    // Without a named cause: the first repeated or unused sample itself.
    void place(GateCheck& check)
    {
        std::vector<EvidenceRow> rows;
        for (const EpochReview& epoch : review_.epochs)
            for (const RepeatedId& r : epoch.coverage.repeats) {
                if (check.step < 0) {
                    check.step = epoch.stepAt(review_.axis, r.rank, r.position);
                    check.rank = r.rank;
                }
                rows.push_back(
                    {fmt::format("epoch {}, id {}", epoch.coverage.epoch, facts().originalId(r.id)),
                     fmt::format("rank {} position {}, again rank {} position {}", r.firstRank,
                                 r.firstPosition, r.rank, r.position)});
            }
        check.fix = "Look at the sampler's code for the ids below";
        check.evidenceJson = evidenceJson(rows);
    }

    void omission()
    {
        const std::int64_t omitted = sum([](const EpochReview& e) { return e.coverage.omitted; });
        const std::int64_t epochs = std::int64_t(review_.epochs.size());
        const std::int64_t cut = plan().dropLast ? facts().datasetSize % facts().world : 0;
        const bool holds =
            std::all_of(review_.epochs.begin(), review_.epochs.end(), [cut](const EpochReview& e) {
                return e.coverage.omitted == cut && e.coverage.outOfRange == 0;
            });
        const std::int64_t worst = review_.epochs.empty()
                                       ? 0
                                       : std::max_element(review_.epochs.begin(), review_.epochs.end(),
                                                          [](const auto& a, const auto& b) {
                                                              return a.coverage.omitted < b.coverage.omitted;
                                                          })
                                             ->coverage.omitted;
        GateCheck& check = add(
            "data.omission", holds, fmt::format("{} of {}", grouped(worst), grouped(facts().datasetSize)),
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

    void padding()
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
            holds = holds &&
                    (found == expected || !covered || e.coverage.overlapped > 0 || finding({"A6", "A10"}));
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

    void setEpoch()
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

    void samePermutation()
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
        GateCheck& check = add("data.same_permutation", !why, fmt::format("{} of {} ranks", agreeing, world),
                               fmt::format("{} of {}", world, world),
                               why ? "" : "All ranks deal from the same permutation.");
        explain(check, why);
    }

    void content()
    {
        const ContentTable& table = *review_.contents;
        if (!table.judged() || table.augmented()) {
            cannotJudge(
                "data.content",
                table.augmented()
                    ? "The contents change from epoch to epoch (augmentation), so equal ids cannot be "
                      "compared by content."
                    : "What the samples contain is not known from ids alone.",
                "Judge a recorded run, or run the real loader with --with-loader");
            return;
        }
        GateCheck& check = add(
            "data.content", table.conflicts() == 0,
            fmt::format("{} of {}", grouped(table.compared() - table.conflicts()), grouped(table.compared())),
            "all", table.conflicts() == 0 ? "The same id brings the same content on every rank." : "");
        if (table.conflicts() > 0)
            explain(check, finding({"A7"}));
    }

    // Draws of one kind: how many, how many different.
    void distinctDraws(const char* id, bool workers, const char* cause, const char* holds)
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
        GateCheck& check =
            add(id, distinct == total || note,
                fmt::format("{} of {} distinct", grouped(distinct), grouped(total)),
                fmt::format("{} of {}", grouped(total), grouped(total)), distinct == total ? holds : "");
        if (distinct != total)
            explain(check, finding({cause, "E6"}, note));
    }
    void streams()
    {
        distinctDraws("data.rank_streams", false, "E6", "Every rank's generator draws its own numbers.");
    }
    void workers()
    {
        distinctDraws("data.worker_seeds", true, "A8",
                      "Every loader worker of every rank draws its own numbers.");
    }

    void steps()
    {
        const EpochReview& first = review_.epochs.front();
        const std::int64_t perRank = plan().dropLast
                                         ? facts().datasetSize / facts().world
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
        const bool counts =
            std::all_of(review_.epochs.begin(), review_.epochs.end(), [](const EpochReview& e) {
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
            check.sentence =
                fmt::format("The ranks make {} steps in the first epoch, expected are {} on each.", value,
                            grouped(expected));
            check.fix = "Deal the same number of samples to every rank";
        }
    }

    void order()
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

    void ragged()
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

    void globalBatch()
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

    void evaluation()
    {
        const auto& counts = facts().evaluation;
        if (!counts)
            return;
        GateCheck& check =
            add("data.evaluation", !counts->repeats(), grouped(counts->counted), grouped(counts->setSize),
                counts->repeats() ? "" : "Every sample of the evaluation set is counted once.");
        explain(check, finding({"F9"}));
    }

    void everyWorld()
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

    const DataReview& review_;
    const std::vector<DataFinding>& findings_;
    std::vector<GateCheck> checks_;
};

} // namespace

std::vector<GateCheck> dataChecks(const DataReview& review, const std::vector<DataFinding>& findings)
{
    return Checks(review, findings).all();
}

std::string gateVerdict(const std::vector<GateCheck>& checks)
{
    bool unjudged = checks.empty();
    for (const GateCheck& check : checks) {
        if (check.verdict == "fail")
            return "fail";
        if (check.verdict != "pass")
            unjudged = unjudged || std::find(kMayStayUnjudged.begin(), kMayStayUnjudged.end(), check.id) ==
                                       kMayStayUnjudged.end();
    }
    return unjudged ? "cannot_judge" : "pass";
}

} // namespace lockstep
