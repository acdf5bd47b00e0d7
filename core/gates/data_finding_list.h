// From reviews of epochs to causes: the list of findings and the functions that add to it, which share this class over two
// files. Internal to core/gates.
#pragma once

#include "core/gates/data_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

class DataFindings
{
public:
    explicit DataFindings(const DataReview& review) : review_(review) {}

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

    void judgeEpoch(std::size_t e);
    // Which order the ids come in: data_order_findings.cpp.
    void noSplit(const EpochReview& epoch);
    void orderLost(const EpochReview& epoch);
    bool replaced(const EpochReview& epoch);
    int deviatingRank(const EpochReview& epoch) const;
    void addReplaced(const EpochReview& epoch, const std::string& what);
    bool ownPermutation(const EpochReview& epoch);
    bool sameOrder(std::size_t e);
    void otherOrder(const EpochReview& epoch);
    std::vector<EvidenceRow> headRows() const;
    // How many there are, what is in them and what is drawn: data_findings.cpp.
    void padding(const EpochReview& epoch);
    void omission(const EpochReview& epoch);
    void ragged(const EpochReview& epoch);
    void judgeContents();
    void judgeDraws();
    void judgeBatch();
    void judgeEvaluation();

    const DataReview& review_;
    std::vector<DataFinding> found_;
};

} // namespace lockstep
