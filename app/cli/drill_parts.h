// What all drills report alike: the checks a drill consists of, as JSON and as evidence of its one check in the gate.
#pragma once

#include "app/cli/json_output.h"
#include "core/gates/text.h"
#include "core/store/project_store.h"

#include <string>
#include <vector>

namespace lockstep {

// The member "checks".
void writeParts(JsonDocument& json, const std::vector<GateCheck>& parts);
// A row for each part; the first that does not hold says where to look.
std::vector<EvidenceRow> takeParts(GateCheck& whole, const std::vector<GateCheck>& parts,
                                   const std::string& runId);

} // namespace lockstep
