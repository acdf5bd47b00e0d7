// The checks of phase 3, one function each; its files share the class. Internal to core/gates.
#pragma once

#include "core/align/compare.h"
#include "core/gates/gate_check.h"
#include "core/gates/precision_judge.h"
#include "core/gates/text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

class PrecisionChecks
{
public:
    PrecisionChecks(const PrecisionRequest& request, const std::vector<PrecisionRecord>& records,
                    const CheckpointFacts& checkpoint)
        : request_(request), records_(records), checkpoint_(checkpoint)
    {
    }
    Result<GateInfo> judge();

private:
    using Role = PrecisionRun::Role;

    const PrecisionRecord* record(Role role) const
    {
        const auto it = std::find_if(records_.begin(), records_.end(),
                                     [role](const PrecisionRecord& r) { return r.role == role; });
        return it == records_.end() ? nullptr : &*it;
    }
    GateCheck& add(const char* id, bool holds, std::string value, std::string limit, std::string sentence)
    {
        return addCheck(gate_.checks, id, holds, std::move(value), std::move(limit), std::move(sentence));
    }
    void cannotJudge(const char* id, std::string why) { addUnjudged(gate_.checks, id, std::move(why)); }
    static void place(GateCheck& check, const FirstDifference& first)
    {
        check.step = first.step;
        check.rank = first.rank;
        check.parameter = first.parameter;
    }

    // Holds one run against another; none where that cannot be, which is then what check `id` says.
    Result<std::optional<Comparison>> hold(Role a, Role b, const char* id, const CompareOptions& options);

    void switches();
    // How far honest rounding carries, and who stays inside: precision_envelope.cpp.
    Status measure();
    Status envelope(Role a, Role b, std::int64_t from, const char* id, const std::string& sentence);
    static Result<std::int64_t> lastSkipped(const PrecisionRecord& run);
    // What scaler and clipping did: precision_scaling.cpp.
    Status scaler();
    Status clipping();
    // What a resumed run repeats: precision_resume.cpp.
    Status exact(Role a, Role b, std::int64_t from, std::int64_t to, const char* id,
                 const std::string& sentence, std::vector<Quantity> only = {});
    Status counters();

    const PrecisionRequest& request_;
    const std::vector<PrecisionRecord>& records_;
    const CheckpointFacts& checkpoint_;
    Envelope envelope_;
    std::string noEnvelope_;
    bool statistics_ = false;
    GateInfo gate_;
};

} // namespace lockstep
