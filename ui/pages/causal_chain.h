// The causal strip of a pair of runs, from its comparison.
#pragma once

#include "ui/models/comparison_model.h"

namespace lockstep {

class CausalStrip;

// `comparison` null: still being compared. Where nothing could be compared the strip says why.
void showChain(CausalStrip& strip, const RunComparisonPtr& comparison, const QString& nameA,
               const QString& nameB);

} // namespace lockstep
