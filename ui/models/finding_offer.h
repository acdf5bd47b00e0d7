// What can be done about a finding with one click: the run that tells its causes apart, or the setting that undoes it.
#pragma once

#include "ui/models/project_snapshot.h"

#include <QString>

#include <optional>

namespace lockstep {

struct FindingOffer {
    // Sentence and button of the separating run; empty: the finding has one cause, or no run tells them apart. Scripts get
    // the sentence alone: no option of ours reaches them.
    QString separates, separateButton;
    // The suspect's configuration with the deciding setting of the reference, and what changes ("lr 0.05 instead of 0.1").
    std::optional<RunConfig> mended;
    QString change;
};

// Nothing is offered where a run of the pair is gone.
FindingOffer findingOffer(const FindingRow& finding, const ProjectSnapshot& snapshot);

} // namespace lockstep
