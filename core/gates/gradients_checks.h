// The checks of the gradients gate, one function each, on what its runs recorded. Internal to core/gates.
#pragma once

#include "core/align/compare.h"
#include "core/gates/gate_check.h"
#include "core/gates/gradients_judge.h"
#include "core/gates/sample_agreement.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

class GradientsChecks
{
public:
    GradientsChecks(const RunConfig& base, const std::vector<GradientsRecord>& records)
        : base_(base), records_(records), script_(isScript(base))
    {
    }

    Result<GateInfo> judge();
    // The same for runs that the probe recorded (gradients_recorded.h).
    Result<GateInfo> judgeRecorded(const std::string& howToRepeat);

private:
    using Role = GradientsRun::Role;

    const GradientsRecord* record(Role role) const
    {
        const auto it = std::find_if(records_.begin(), records_.end(),
                                     [role](const GradientsRecord& r) { return r.role == role; });
        return it == records_.end() ? nullptr : &*it;
    }
    // What DDP on all ranks is held against, and the DDP run that belongs to it.
    const GradientsRecord* reference() const
    {
        return record(statistics_ && !script_ ? Role::Twin : Role::Baseline);
    }
    const GradientsRecord* allRanks() const
    {
        return record(statistics_ && !script_ ? Role::Random : Role::Ddp);
    }
    const char* referenceName() const { return statistics_ && !script_ ? "twin" : "single"; }

    GateCheck& add(const char* id, bool holds, std::string value, std::string limit, std::string sentence)
    {
        return addCheck(gate_.checks, id, holds, std::move(value), std::move(limit), std::move(sentence));
    }
    void cannotJudge(const char* id, std::string why) { addUnjudged(gate_.checks, id, std::move(why)); }

    void forced();
    Status publishedRule();
    Status worldOne();
    Status insideEnvelope();
    // The runs of one process and of all ranks are there.
    Status holdInEnvelope(const Envelope& envelope, Quantity quantity, const char* id);
    Status twin();
    Status ranksEqual(Role role, const char* id);
    Status collectiveCounts();
    Status unused();
    Status reduction();
    Status sameBatches();
    Status collectivesOfScript();
    void leaveDriftToEnvelope(const std::string& howToRepeat);
    void leaveToEngine();
    Status overRounding(const std::string& howToRepeat);
    void place(GateCheck& check, const FirstDifference& first);

    const RunConfig& base_;
    const std::vector<GradientsRecord>& records_;
    const bool script_; // runs of a script of one's own: no twin, no DDP with one rank
    GateInfo gate_;
    bool statistics_ = false;
    bool silent_ = false; // repeats of a script that are equal in every bit: no envelope
    std::string unequal_; // why the pair of a script cannot be held against each other; empty: it can
};

} // namespace lockstep
