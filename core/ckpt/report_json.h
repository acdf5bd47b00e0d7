// The JSON documents of `ckpt verify`, `diff`, `convert` and `salvage`. Fields may be added, never renamed.
#pragma once

#include "core/ckpt/convert.h"
#include "core/ckpt/diff.h"
#include "core/ckpt/run_diff.h"
#include "core/ckpt/salvage.h"
#include "core/ckpt/verify.h"

#include <string>

namespace lockstep {

std::string verifyJson(const VerifyReport& report);
// Form: corpus README, "pairs". Floats have a twin `max_abs_hex`.
std::string diffJson(const CheckpointDiff& diff);
// Fingerprints as "0x0123456789abcdef", norms with a twin in hex.
std::string runDiffJson(const RunDiff& diff);
std::string convertJson(const ConvertReport& report, const std::string& output, bool written);
std::string salvageJson(const SalvagePlan& plan, const ConvertReport* report, const std::string& output);

} // namespace lockstep
