// Small text helpers of the gates: grouped numbers, evidence rows.
#pragma once

#include "core/base/quantity.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// 1038 -> "1,038".
std::string grouped(std::int64_t number);
// "1 sample", "2 samples".
std::string counted(std::int64_t number, const char* singular, const char* plural);

// The title of a quantity, for sentences.
std::string titleOf(Quantity quantity);

// A row of evidence for people: what it is, and the values.
struct EvidenceRow {
    std::string label;
    std::string text;
};
std::string evidenceJson(const std::vector<EvidenceRow>& rows);

} // namespace lockstep
