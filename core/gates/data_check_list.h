// The checks of the data gate, one function each; its files share the class. Internal to core/gates.
#pragma once

#include "core/gates/data_checks.h"
#include "core/gates/gate_check.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

namespace lockstep {

class DataChecks
{
public:
    DataChecks(const DataReview& review, const std::vector<DataFinding>& findings)
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
        return addCheck(checks_, id, holds, std::move(value), std::move(limit), std::move(sentence));
    }

    void cannotJudge(const char* id, const std::string& why, const std::string& fix);
    // Cause, place, fix and evidence of a finding, and its sentence behind the check's own numbers.
    void explain(GateCheck& check, const DataFinding* finding);

    void overlap();
    // Without a named cause: the first repeated or unused sample itself.
    void place(GateCheck& check);
    void omission();
    void padding();
    void setEpoch();
    void samePermutation();
    void content();

    // Draws of one kind: how many, how many different.
    void distinctDraws(const char* id, bool workers, const char* cause, const char* holds);
    void streams();
    void workers();
    void steps();
    void order();
    void ragged();
    void globalBatch();
    void evaluation();
    void everyWorld();

    const DataReview& review_;
    const std::vector<DataFinding>& findings_;
    std::vector<GateCheck> checks_;
};

} // namespace lockstep
