// The checks of the gradients gate, one function each, on what its runs recorded. Internal to core/gates.
#pragma once

#include "core/align/compare.h"
#include "core/gates/gradients_judge.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

class GradientsChecks
{
public:
    GradientsChecks(const RunConfig& base, const std::vector<GradientsRecord>& records)
        : base_(base), records_(records)
    {
    }

    Result<GateInfo> judge();

private:
    using Role = GradientsRun::Role;

    const GradientsRecord* record(Role role) const
    {
        const auto it = std::find_if(records_.begin(), records_.end(),
                                     [role](const GradientsRecord& r) { return r.role == role; });
        return it == records_.end() ? nullptr : &*it;
    }
    // What DDP on all ranks is held against, and the DDP run that belongs to it.
    const GradientsRecord* reference() const { return record(statistics_ ? Role::Twin : Role::Baseline); }
    const GradientsRecord* allRanks() const { return record(statistics_ ? Role::Random : Role::Ddp); }
    const char* referenceName() const { return statistics_ ? "twin" : "single"; }

    GateCheck& add(const char* id, bool holds, std::string value, std::string limit, std::string sentence)
    {
        GateCheck check;
        check.id = id;
        check.verdict = holds ? "pass" : "fail";
        check.value = std::move(value);
        check.limit = std::move(limit);
        check.sentence = std::move(sentence);
        gate_.checks.push_back(std::move(check));
        return gate_.checks.back();
    }
    void cannotJudge(const char* id, std::string why)
    {
        add(id, false, "not judged", "", std::move(why)).verdict = "cannot_judge";
    }

    void forced();
    Status publishedRule();
    Status worldOne();
    Status insideEnvelope();
    Status twin();
    Status ranksEqual(Role role, const char* id);
    Status collectiveCounts();
    Status unused();
    Status reduction();
    void place(GateCheck& check, const FirstDifference& first);

    const RunConfig& base_;
    const std::vector<GradientsRecord>& records_;
    GateInfo gate_;
    bool statistics_ = false;
};

} // namespace lockstep
