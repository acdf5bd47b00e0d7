// Which parameter or buffer a difference begins in.
#pragma once

#include "core/align/compare.h"

#include <string>

namespace lockstep::align {

// The first tensor, in the order of the model, that differs at the step in the field that belongs to the
// quantity's causal link: by fingerprint in mode Exact, otherwise by norm; where no single norm leaves the
// tolerance, the one with the largest relative distance. Empty where either run recorded no tensors there.
Result<std::string> locateTensor(RunReader& a, int rankA, std::int64_t stepA, RunReader& b, int rankB,
                                 std::int64_t stepB, CausalLink link, const Tolerance& tolerance);

} // namespace lockstep::align
