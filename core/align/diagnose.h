// Why two runs part: ranked findings from what they recorded, each with the numbers that speak for it, the numbers that
// exclude its neighbours, and the fix. Input is the store alone, so a diagnosis can be repeated from a copied project.
//
// The earliest difference in causal order selects the rules (core/align/diagnose/*_rules.cpp, one file per family of the
// catalogue); each rests on mechanism: exact equalities, ratios, and relations that random projections show. A rule that
// fits names its cause and, for a proof by replay, the parameters it solved from the numbers. Several causes can fit; the
// best comes first. Two causes can be the same bits in one setting; only a replay can say which those are (proof.h).
#pragma once

#include "core/align/diagnose/run_traits.h"
#include "core/base/quantity.h"
#include "core/base/status.h"
#include "core/store/run_reader.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

enum class Certainty {
    Proven, // a replay with this cause equals the observed run in every recorded bit, and no other cause tried does
    Likely,   // its signature fits and no other cause has the same one
    Possible, // it fits, among others
    Benign,   // a difference that correct runs have; nothing to mend
};
const char* certaintyName(Certainty certainty); // "proven", "likely", "possible", "benign"

struct Evidence {
    std::string label;                // "gradient before reduction, all ranks"
    std::string text;                 // "4.000000 times the reference, limit 1"
    std::optional<Quantity> quantity; // curve to show
    std::int64_t step = -1;
    int rank = -1;
    std::string parameter;
    bool operator==(const Evidence&) const = default;
};

struct Finding {
    // Catalogue id. More than one: these are the same bits in this setting, the first best.
    std::vector<std::string> causes;
    Certainty certainty = Certainty::Possible;
    std::int64_t step = -1; // first divergent step
    int rank = -1;          // -1: all
    std::string parameter;
    std::string sentence;
    std::string fix;
    std::vector<Evidence> evidence;
    std::vector<Evidence> excluded; // labels name the neighbours
    std::string separate;           // of a class: the cheapest run that tells its causes apart
    std::vector<FaultSpec> replays; // one per cause: what to plant into the twin
    // The setting that undoes it, where it is one: name as in RunConfig and value.
    std::string setting, value;
    bool operator==(const Finding&) const = default;
};

struct Diagnosis {
    std::vector<Finding> findings; // best first, benign ones last
    std::vector<std::string>
        problems;           // what stands beside the findings: missing records, what could not be compared
    bool comparable = true; // false: nothing could be compared; never "no difference"
    std::int64_t firstStep = -1; // where the runs part; -1: nowhere
    CausalLink link = CausalLink::None;
};

struct DiagnosedRun {
    RunReader* reader = nullptr;
    RunTraits traits;
};

// `twin`: a twin of the suspect without deviations, where there is one: then the suspect is held against it bit for bit,
// also when the reference is a single process. Readers are used by this thread until the call returns. Errors: reading.
Result<Diagnosis> diagnose(const DiagnosedRun& reference, const DiagnosedRun& suspect,
                           const std::optional<DiagnosedRun>& twin = std::nullopt);

} // namespace lockstep
