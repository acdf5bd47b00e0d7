// From reviews and causes to the checks of the gate. Internal to core/gates.
#pragma once

#include "core/gates/data_findings.h"
#include "core/store/project_store.h"

#include <vector>

namespace lockstep {

std::vector<GateCheck> dataChecks(const DataReview& review, const std::vector<DataFinding>& findings);

// fail if any check fails; cannot_judge if one that must be judged cannot; pass otherwise. The checks that
// need the real loader or a known seed may stay unjudged.
std::string gateVerdict(const std::vector<GateCheck>& checks);

} // namespace lockstep
