// What to say when a diagnosis of two runs has ended without any finding: that they do not part is good news and is told with
// its numbers; that they part without a known cause is told as that.
#pragma once

#include "ui/models/comparison_model.h"

#include <QString>

namespace lockstep {

struct DiagnosisOutcome {
    State state = State::None;
    QString headline, text;
};

DiagnosisOutcome outcomeWithoutFinding(const RunComparison& comparison);

// Why the causes of this pair cannot be proven by replay; empty: they can. Only runs of the engine have a twin to replay in.
QString whyNotProvable(const RunEntry* a, const RunEntry* b);

} // namespace lockstep
