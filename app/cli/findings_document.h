// Findings as JSON, as rows of the project, and as text for people.
#pragma once

#include "app/cli/json_output.h"
#include "core/align/diagnose.h"
#include "core/store/project_store.h"

#include <string>
#include <vector>

namespace lockstep {

// One object: {"cause","causes","confidence","rank","step","parameter","sentence","fix","setting","evidence","excluded",
// "separate","replay"}; `check` is added where it is not empty (lint).
void writeFinding(JsonDocument& json, const Finding& finding, const std::string& check = {});
FindingRow findingRow(const std::string& runA, const std::string& runB, const Finding& finding);
// The rows of `more` behind those of `rows`; both as findingRow() writes them.
std::string joinEvidence(const std::string& rows, const std::string& more);
std::string findingText(const Finding& finding);
// "B6,k=2", as --fault takes it.
std::string faultText(const FaultSpec& fault);

} // namespace lockstep
